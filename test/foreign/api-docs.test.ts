import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import tap, { type Test, test } from "tap";
import { AuthService } from "../../gen/services/auth/auth_pb.ts";
import { methodPathOf } from "../../server/rpc/call/method-rule.ts";
import { exampleCommands } from "../../server/web/docs/example-commands.ts";
import { adminPassword, startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { readDocumentedContract } from "../server/rpc/openapi/contract-under-test.ts";
import { goTool, systemTool } from "./foreign-tool.ts";
import { runTool, startTool } from "./tool-process.ts";

tap.setTimeout(900_000);
const { skip: noCurl } = await systemTool("curl");
const { path: grpcurl, skip: noGrpcurl } = await goTool(
  "github.com/fullstorydev/grpcurl/cmd/grpcurl",
  "v1.9.4",
);
const tools = [join(import.meta.dirname, "../../tools/node_modules/.bin"), join(grpcurl, "..")];

const { methods, restRoutes } = await readDocumentedContract();
const reads = methods.filter(
  ({ rule }) => !rule.mutation && (rule.role === "viewer" || rule.role === "anyone"),
);

/** Returns the commands of /docs with this title that call reads that end. */
function commandsOf(title: string) {
  return reads
    .filter(({ method }) => method.methodKind === "unary")
    .flatMap((one) =>
      exampleCommands(one, restRoutes)
        .filter((example) => example.title === title)
        .map(({ command }) => ({ path: methodPathOf(one.method), command })),
    );
}

/** Starts a sandbox, and returns the environment variables that the page asks for. */
async function startSandbox(t: Test): Promise<Record<string, string>> {
  const { gateway, url } = await startGatewayUnderTest(t, {}, { hasLogin: true, logLevel: "warn" });
  const logins = createClient(AuthService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
  const { token } = await logins.login({ username: "admin", password: adminPassword });
  const path = [...tools, process.env.PATH ?? ""].join(":");
  return { GATEWAY: gateway.addresses[0] ?? "", TOKEN: token, PATH: path };
}

/** Errors that no example may end with: the sandbox serves each method and accepts each request. */
const wrong = /unimplemented|invalid_argument|InvalidArgument|"internal"|Unimplemented|Code: Internal/;

test("the curl examples of every read work in a sandbox", { skip: noCurl, timeout: 900_000 }, async (t) => {
  const env = await startSandbox(t);
  for (const title of ["curl", "curl, by GET", "curl, REST"]) {
    const commands = commandsOf(title);
    t.ok(commands.length > 3, title);
    for (const { path, command } of commands) {
      const { code, stdout, stderr } = await runTool("sh", ["-c", command], { env });
      t.equal(code, 0, `${path}: ${stderr}`);
      t.doesNotThrow(() => JSON.parse(stdout), `${path}: ${stdout}`);
      t.notMatch(stdout, wrong, path);
      t.notMatch(stdout, /"code":(?:3|12|13)\b/, `${path} over REST`);
    }
  }
});

test("the curl examples of watches show what happens", { skip: noCurl, timeout: 900_000 }, async (t) => {
  const env = await startSandbox(t);
  for (const name of [
    "proto.VGService/Watch",
    "hostplane.v1.EventService/Subscribe",
    "hostplane.v1.PodService/WatchPods",
  ]) {
    const watch = reads.find(({ method }) => methodPathOf(method) === name);
    const command =
      watch && exampleCommands(watch, restRoutes).find(({ title }) => title === "curl")?.command;
    const tool = startTool(t, "sh", ["-c", command ?? ""], { env });
    await tool.waitFor(/^data: \{/m);
    await tool.stop();
    t.pass(name);
  }
});

for (const { title, skip } of [
  { title: "buf curl", skip: noCurl },
  { title: "grpcurl", skip: noGrpcurl },
]) {
  test(`a sample of the ${title} examples works in a sandbox`, { skip, timeout: 900_000 }, async (t) => {
    const env = await startSandbox(t);
    for (const { path, command } of commandsOf(title).filter((_one, index) => index % 4 === 0)) {
      const { stdout, stderr } = await runTool("sh", ["-c", command], { env });
      t.notMatch(`${stdout}${stderr}`, wrong, path);
      t.match(`${stdout}${stderr}`, /\{|NotFound|not_found/, path);
    }
  });
}
