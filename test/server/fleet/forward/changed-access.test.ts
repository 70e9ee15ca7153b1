import { once } from "node:events";
import { connect, constants, createServer, type ServerHttp2Stream } from "node:http2";
import { createClient } from "@connectrpc/connect";
import { test } from "tap";
import { EventService } from "../../../../gen/hostplane/v1/event_pb.ts";
import { grantsOf } from "../../access/grants/grants-under-test.ts";
import { startGatewayUnderTest } from "../../harness/gateway-under-test.ts";
import { createHostsUnderTest, openLink } from "../../harness/hosts-under-test.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";
import { until } from "../../harness/until.ts";
import { startFleetUnderTest } from "./fleet-under-test.ts";

const resources = ["volumeGroups/sandbox-vg"];

async function readAll(messages: AsyncIterator<unknown>): Promise<void> {
  while ((await messages.next()).done !== true) {}
}

test("a forwarded stream ends when its host loses the label with which a grant names it", async (t) => {
  const { hub, hosts } = await startFleetUnderTest(t);
  const { link, domains } = hosts.find("node-1") ?? {};
  const setLabel = (use: string) => hosts.set("node-1", link, domains, { use });
  setLabel("test");
  const { admin, userWith } = await grantsOf(t, hub.url);
  const subscribe = async (name: string, value: string) => {
    const hostLabels = [{ name: "use", value }];
    const user = await userWith(name, [{ role: "ROLE_OPERATOR", hostLabels, resources }]);
    const messages = createClient(EventService, user.transport()).subscribe(
      {},
      { headers: { "hostplane-host": "node-1" } },
    );
    const iterator = messages[Symbol.asyncIterator]();
    t.match(await iterator.next(), { value: { message: { case: "snapshot" } } }, name);
    return iterator;
  };
  const ended = await subscribe("of-tests", "test");
  const kept = await subscribe("of-any-use", "");
  setLabel("production");
  t.match(await rpcErrorOf(readAll(ended)), { code: "ABORTED", reason: "ACCESS_CHANGED" });
  const created = await admin.call("hosts/node-1/proto.LVService/CreateLV", { name: "new", sizeGb: "1" });
  t.equal(created.status, 200);
  t.match(
    await kept.next(),
    { value: { message: { value: { resource: /volumes\/new$/ } } } },
    "the grants of others do not matter",
  );
});

test("a call whose message arrives late is ended when its caller's access has changed", async (t) => {
  const hosts = createHostsUnderTest();
  const server = createServer();
  const begun = once(server, "stream") as Promise<[ServerHttp2Stream]>;
  const { link } = await openLink(t, "node-1", (connection) => server.emit("connection", connection));
  hosts.set("node-1", link);
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true, fleetHosts: hosts });
  const { admin, userWith } = await grantsOf(t, url);
  const { token } = await userWith("late", [{ role: "ROLE_OPERATOR", resources }]);
  const session = connect(url);
  t.teardown(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": "/hosts/node-1/proto.LVService/CreateLV",
    "content-type": "application/json",
    authorization: `Bearer ${token}`,
  });
  let answer = "";
  stream.on("error", () => {});
  stream.setEncoding("utf8").on("data", (text) => {
    answer += text;
  });
  stream.write('{"name":"late",');
  const [atHost] = await begun;
  atHost.on("error", () => {}).resume();
  const ended = once(atHost, "close");
  const request = { name: "late", grants: { grants: [{ role: "ROLE_VIEWER" }] } };
  t.equal((await admin.call("hostplane.v1.UserService/UpdateUser", request)).status, 200);
  await until(() => {
    stream.write(" ");
    return answer !== "";
  });
  t.match(answer, /NOT_GRANTED/);
  await ended;
  t.equal(atHost.rstCode, constants.NGHTTP2_CANCEL, "the host gets no whole message");
});
