import { test } from "tap";
import { exampleCommands } from "../../../../server/web/docs/example-commands.ts";
import { readDocumentedContract } from "../../rpc/openapi/contract-under-test.ts";

const { methods, restRoutes } = await readDocumentedContract();

function commandsOf(path: string): Record<string, string> {
  const found = methods.find(({ method }) => `${method.parent.typeName}/${method.name}` === path);
  const commands = found === undefined ? [] : exampleCommands(found, restRoutes);
  return Object.fromEntries(
    commands.map(({ title, command }) => [title, command.replaceAll(" \\\n  ", " ")]),
  );
}

test("a read has one command for each way to call it", async (t) => {
  t.same(commandsOf("proto.VGService/GetLVList"), {
    curl: `curl -s -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '{"deviceClass":"sandbox-ssd"}' http://$GATEWAY/proto.VGService/GetLVList`,
    "curl, by GET": `curl -s -G -H "authorization: Bearer $TOKEN" -d encoding=json --data-urlencode 'message={"deviceClass":"sandbox-ssd"}' http://$GATEWAY/proto.VGService/GetLVList`,
    "buf curl": `buf curl --http2-prior-knowledge -H "authorization: Bearer $TOKEN" -d '{"deviceClass":"sandbox-ssd"}' http://$GATEWAY/proto.VGService/GetLVList`,
    grpcurl: `grpcurl -plaintext -H "authorization: Bearer $TOKEN" -d '{"deviceClass":"sandbox-ssd"}' $GATEWAY proto.VGService/GetLVList`,
  });
});

test("a REST route has its fields in the body or the query; a login has no token; a stream asks for events", async (t) => {
  t.match(
    commandsOf("cnct.kaas.api.Cluster/DeleteNodePool")["curl, REST"],
    `curl -s -X DELETE -H "authorization: Bearer $TOKEN" "http://$GATEWAY/api/v1/cluster/pool?clusterName=demo&node_pool_names=workers"`,
  );
  t.match(
    commandsOf("cnct.kaas.api.Cluster/UpgradeCluster")["curl, REST"],
    `-d '{"name":"demo","version":"1.36.3"}' "http://$GATEWAY/api/v1/cluster/upgrade"`,
  );
  t.notMatch(commandsOf("services.auth.AuthService/Login").curl, "TOKEN");
  t.match(commandsOf("proto.VGService/Watch").curl, "curl -sN -H 'accept: text/event-stream'");
});
