import { createClient } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { LVService, VGService } from "../../../../gen/proto/lvmd_pb.ts";
import { domainReasons } from "../../../../server/domain/reasons.ts";
import { registerRefusal, registerService } from "../../../../server/rpc/call/service-handlers.ts";
import { startAppUnderTest } from "../../harness/app-under-test.ts";
import { startGatewayUnderTest } from "../../harness/gateway-under-test.ts";
import { requestHttp2 } from "../../harness/raw-request.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";

test("a call is one line: reads at debug, mutations at info, refusals with their reason", async (t) => {
  const { url, log } = await startGatewayUnderTest(t);
  const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1" });
  await createClient(VGService, transport).getFreeBytes({});
  await createClient(LVService, transport).createLV({ name: "a", sizeGb: 1n });
  await rpcErrorOf(createClient(LVService, transport).removeLV({ name: "sandbox-db" }));
  const calls = log.filter(({ msg }) => msg === "call");
  const caller = /^listener\/127\.0\.0\.1:\d+$/;
  const common = { protocol: "connect", peer: "127.0.0.1", caller, requestId: String, durationMs: Number };
  t.match(calls, [
    { level: 20, rpc: "proto.VGService/GetFreeBytes", code: "OK", ...common },
    {
      level: 30,
      rpc: "proto.LVService/CreateLV",
      code: "OK",
      resource: "volumeGroups/sandbox-vg/volumes/a",
      ...common,
    },
    { level: 30, rpc: "proto.LVService/RemoveLV", code: "FAILED_PRECONDITION", reason: "VOLUME_IN_USE" },
  ]);
  t.equal(calls.length, 3);
});

test("a stream is logged when it ends, with its error", async (t) => {
  const { url, log } = await startGatewayUnderTest(t);
  const leaving = new AbortController();
  const client = createClient(VGService, createGrpcTransport({ baseUrl: url }));
  const watch = client.watch({}, { signal: leaving.signal })[Symbol.asyncIterator]();
  await watch.next();
  t.equal(log.filter(({ msg }) => msg === "call").length, 0);
  leaving.abort();
  await rpcErrorOf(watch.next());
  const lines = () => log.filter(({ msg }) => msg === "call");
  while (lines().length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  t.match(lines(), [
    { level: 20, rpc: "proto.VGService/Watch", protocol: "grpc", code: "CANCELLED", reason: "CALLER_LEFT" },
  ]);
});

test("a fault of the gateway is logged with its cause, under the request id that the client has", async (t) => {
  const broken = async () => {
    throw new TypeError("a bug");
  };
  const services = registerService(LVService, {
    createLV: broken,
    removeLV: broken,
    resizeLV: broken,
    createBackup: broken,
  });
  const { url, log } = await startAppUnderTest(t, [services]);
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/proto.LVService/RemoveLV`, { method: "POST", headers, body: "{}" });
  const answer = await response.text();
  t.match(JSON.parse(answer), {
    code: "internal",
    message: /log/,
    details: [{ debug: { reason: "INTERNAL" } }],
  });
  t.notMatch(answer, "a bug");
  t.match(log, [{ level: 40, code: "INTERNAL", err: { type: "TypeError", message: "a bug" } }]);
  t.equal(log[0]?.requestId, response.headers.get("hostplane-request-id"));
});

test("an unreachable system is logged in a line without a stack", async (t) => {
  const services = registerRefusal(
    VGService,
    () => new InfraError(domainReasons.DOMAIN_OFF, "volumes are off"),
  );
  const { url, log } = await startAppUnderTest(t, [services]);
  const headers = { "content-type": "application/json" };
  await fetch(`${url}/proto.VGService/GetFreeBytes`, { method: "POST", headers, body: "{}" });
  t.match(log, [{ level: 40, code: "UNAVAILABLE", reason: "DOMAIN_OFF", message: "volumes are off" }]);
  t.notOk("err" in (log[0] ?? {}));
});

test("errors in a request that may contain secrets are returned to its caller but not logged", async (t) => {
  const { url, log } = await startGatewayUnderTest(t);
  const bodies = [
    '{"dataSource":{"s3":{"secretAccessKey":24682468}}}',
    '{"dataSource":{"s3":"24682468"}}',
    '{"24682468":1}',
    '{"name":"24682468',
  ];
  for (const body of bodies) {
    const answer = await requestHttp2(url, {
      path: "/proto.LVService/CreateLV",
      headers: { "content-type": "application/grpc+json" },
      body: encodeEnvelope(0, Buffer.from(body)),
    });
    t.equal(answer.trailers["grpc-status"] ?? answer.headers["grpc-status"], "3", body);
  }
  t.equal(log.filter(({ code }) => code === "INVALID_ARGUMENT").length, bodies.length);
  t.notMatch(JSON.stringify(log), "24682468");
});

test("a unary Connect request that is refused unread gets a line like any other", async (t) => {
  const { url, log } = await startGatewayUnderTest(t);
  const response = await fetch(`${url}/proto.LVService/CreateLV`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"nam": "a"}',
  });
  t.equal(response.status, 400);
  await response.text();
  t.match(
    log.filter(({ msg }) => msg === "call"),
    [
      {
        level: 30,
        rpc: "proto.LVService/CreateLV",
        protocol: "connect",
        code: "INVALID_ARGUMENT",
        reason: "UNKNOWN_FIELD",
        requestId: response.headers.get("hostplane-request-id") ?? "",
      },
    ],
  );
});

test("an unknown gateway header is refused first", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const query = async (method: string, headers: Record<string, string>) => {
    const response = await fetch(`${url}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: '{"nam": "a"}',
    });
    const { details } = (await response.json()) as { details?: { debug: { reason?: string } }[] };
    return details?.[0]?.debug.reason;
  };
  t.equal(await query("proto.LVService/CreateLV", { "hostplane-hots": "a" }), "UNKNOWN_HEADER");
  t.equal(await query("proto.VGService/GetLVList", { "hostplane-hots": "a" }), "UNKNOWN_HEADER");
});
