import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { type Test, test } from "tap";
import {
  CallHostsRequestSchema,
  type CallHostsResponse,
  FleetService,
} from "../../../../gen/hostplane/v1/fleet_pb.ts";
import { LVService, VGService } from "../../../../gen/proto/lvmd_pb.ts";
import { callHosts } from "../../../../server/domains/fleet/call-hosts.ts";
import { createLinkServer } from "../../../../server/fleet/agent/link-server.ts";
import { methodRuleOf } from "../../../../server/gateway/method-rules.ts";
import { anonymous, type Caller } from "../../../../server/rpc/call/caller.ts";
import { registerService } from "../../../../server/rpc/call/service-handlers.ts";
import { startAppUnderTest } from "../../harness/app-under-test.ts";
import { openLink } from "../../harness/hosts-under-test.ts";
import { hubOf } from "../../harness/hub-of-links.ts";
import { protocols } from "../../harness/protocols.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";

const admin: Caller = { ...anonymous, role: "admin", services: undefined, current: () => admin };
const maxMessageBytes = 4 * 1024 * 1024;

/** Opens the connection of a host that answers each call the same. */
async function openHost(t: Test, name: string, status: number, body: string) {
  const server = createLinkServer({
    onStream: () => false,
    onRequest(_request, response) {
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    },
  });
  return (await openLink(t, name, (connection) => server.serve(connection, "hub"))).link;
}

async function notCalled(): Promise<never> {
  throw new TypeError("only CallHosts is called");
}

test("an answer that no message can hold is an error of its host only", async (t) => {
  const text = (length: number) => "x".repeat(length);
  const hub = hubOf([
    await openHost(t, "node-1", 200, text(maxMessageBytes - 100)),
    await openHost(t, "node-2", 400, JSON.stringify({ code: "internal", message: text(8 << 20) })),
    await openHost(t, "node-3", 400, JSON.stringify({ code: "internal", message: text(1 << 20) })),
    await openHost(t, "node-4", 200, text(3 << 20).slice(1000)),
    await openHost(t, "node-5", 200, "{}"),
  ]);
  const method = VGService.method.getLVList;
  const routeOf = () => ({ method, rule: methodRuleOf(method) });
  const service = registerService(FleetService, {
    callHosts(request, call) {
      call.identify(admin);
      return callHosts({ hub, routeOf, maxMessageBytes }, request, call);
    },
    listHosts: notCalled,
    async *watchHosts() {},
    createHostToken: notCalled,
    setHostLabels: notCalled,
    removeHost: notCalled,
  });
  const { url } = await startAppUnderTest(t, [service]);
  const names = hub.hosts.list().map(({ name }) => name);
  const request = create(CallHostsRequestSchema, { method: "proto.VGService/GetLVList", hosts: names });
  for (const protocol of protocols.filter(({ isGet }) => isGet === undefined)) {
    const client = createClient(FleetService, protocol.createTransport(url));
    const answers = new Map<string, CallHostsResponse["outcome"]>();
    for await (const { host, outcome } of client.callHosts(request)) {
      answers.set(host, outcome);
    }
    t.match(answers.get("node-1"), { case: "error", value: { reason: "BAD_HOST_ANSWER" } }, protocol.name);
    t.match(answers.get("node-2"), { case: "error", value: { reason: "BAD_HOST_ANSWER" } }, protocol.name);
    t.match(answers.get("node-3"), { case: "error", value: { code: "INTERNAL", message: /^x+$/ } });
    t.match(answers.get("node-4"), { case: "body" }, protocol.name);
    t.match(answers.get("node-5"), { case: "body" }, protocol.name);
  }
});

test("a caller that loses its role during a call on many hosts calls no further ones", async (t) => {
  const hub = hubOf([await openHost(t, "node-1", 200, "{}"), await openHost(t, "node-2", 200, "{}")]);
  const method = LVService.method.createLV;
  const routeOf = () => ({ method, rule: methodRuleOf(method) });
  const call = createCall({ method: FleetService.method.callHosts });
  let role: Caller["role"] = "operator";
  call.identify({ ...admin, role, current: () => ({ ...admin, role }) });
  const request = create(CallHostsRequestSchema, {
    method: "proto.LVService/CreateLV",
    hosts: ["node-1", "node-2"],
    maxConcurrent: 1,
  });
  const answers = callHosts({ hub, routeOf, maxMessageBytes }, request, call);
  t.match(await answers.next(), { value: { host: "node-1", outcome: { case: "body" } } });
  role = "viewer";
  await t.rejects(answers.next(), { message: /needs the role operator/ });
});
