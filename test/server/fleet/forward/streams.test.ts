import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { ServerReflection } from "../../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { Role, UserService } from "../../../../gen/hostplane/v1/user_pb.ts";
import { ConformanceService } from "../../../conformance/gen/connectrpc/conformance/v1/service_pb.ts";
import { protocols } from "../../harness/protocols.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";
import { until } from "../../harness/until.ts";
import { startFleetUnderTest } from "./fleet-under-test.ts";
import { createTestService } from "./test-service.ts";

const data = (text: string) => ({ requestData: new TextEncoder().encode(text) });
const textOf = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);

test("a hub forwards streams of requests", async (t) => {
  const { furtherServices } = createTestService();
  const { hub, authorization } = await startFleetUnderTest(
    t,
    ["node-1"],
    {},
    {
      furtherServices,
      agentOptions: { furtherServices },
    },
  );
  const headers = { authorization, "hostplane-host": "node-1" };
  async function* requests(count: number) {
    for (let at = 0; at < count; at += 1) {
      yield data(`message ${at}`);
    }
  }
  for (const protocol of protocols.filter(({ isGet }) => isGet === undefined)) {
    const client = createClient(ConformanceService, protocol.createTransport(hub.url, { headers }));
    const { payload } = await client.clientStream(requests(100));
    t.equal(textOf(payload?.data), "100 messages", `${protocol.name}, client stream`);
    if (protocol.httpVersion === "1.1") {
      continue;
    }
    const received: string[] = [];
    /** Sends the next message once the last one has come back. */
    async function* inTurn() {
      for (let at = 0; at < 20; at += 1) {
        yield data(`message ${at}`);
        await until(() => received.length === at + 1);
      }
    }
    for await (const { payload } of client.bidiStream(inTurn())) {
      received.push(textOf(payload?.data));
    }
    t.same(
      received,
      Array.from({ length: 20 }, (_, at) => `message ${at}`),
      protocol.name,
    );
  }
});

test("gRPC reflection through a hub describes the host", async (t) => {
  const { hub, authorization } = await startFleetUnderTest(t);
  const client = createClient(ServerReflection, createGrpcTransport({ baseUrl: hub.url }));
  const headers = { authorization, "hostplane-host": "node-1" };
  const received: string[] = [];
  async function* requests() {
    yield { messageRequest: { case: "listServices" as const, value: "" } };
    await until(() => received.length === 1);
    yield { messageRequest: { case: "fileContainingSymbol" as const, value: "proto.VGService" } };
  }
  let host: string | null = null;
  const onHeader = (answer: Headers) => {
    host = answer.get("hostplane-host");
  };
  for await (const { messageResponse } of client.serverReflectionInfo(requests(), { headers, onHeader })) {
    received.push(messageResponse.case ?? "");
  }
  t.same(received, ["listServicesResponse", "fileDescriptorResponse"]);
  t.equal(host, "node-1");
});

test("methods that a hub does not know are forwarded for admins only", async (t) => {
  const { furtherServices } = createTestService();
  const { hub, authorization } = await startFleetUnderTest(
    t,
    ["node-1"],
    {},
    {
      agentOptions: { furtherServices },
    },
  );
  const transport = createGrpcTransport({ baseUrl: hub.url });
  const users = createClient(UserService, transport);
  const create = (role: Role) =>
    users.createApiToken({ name: `token-${role}`, role }, { headers: { authorization } });
  const client = createClient(ConformanceService, transport);
  async function* requests() {
    yield data("one");
  }
  const call = (token: string) =>
    client.clientStream(requests(), { headers: { authorization: token, "hostplane-host": "node-1" } });
  t.equal(textOf((await call(authorization)).payload?.data), "1 messages");
  for (const role of [Role.VIEWER, Role.OPERATOR]) {
    const { token } = await create(role);
    t.match(await rpcErrorOf(call(`Bearer ${token}`)), {
      code: "UNIMPLEMENTED",
      reason: "METHOD_NOT_FOUND",
      message: /unknown method connectrpc\.conformance\.v1\.ConformanceService\/ClientStream; only admins/,
    });
  }
});

test("the tool of a host ends when the caller leaves, at the deadline, and when the hub is lost", async (t) => {
  const service = createTestService();
  const { furtherServices, toolEnds } = service;
  const { hub, authorization, link } = await startFleetUnderTest(
    t,
    ["node-1"],
    {},
    {
      furtherServices,
      agentOptions: { furtherServices },
    },
  );
  const headers = { authorization, "hostplane-host": "node-1" };
  const client = createClient(ConformanceService, createGrpcTransport({ baseUrl: hub.url }));
  const begun = (count: number) => until(() => toolEnds.length === count);

  const leaving = new AbortController();
  const left = client.unary({}, { headers, signal: leaving.signal }).catch((error) => error);
  await begun(1);
  leaving.abort();
  await left;
  t.equal(await toolEnds[0], "CALLER_LEFT");

  const late = client.unary({}, { headers, timeoutMs: 5000 }).catch((error) => ConnectError.from(error).code);
  await begun(2);
  t.equal(await late, Code.DeadlineExceeded);
  t.match(await toolEnds[1], /DEADLINE|CALLER_LEFT/);

  const lost = rpcErrorOf(client.unary({}, { headers }));
  await begun(3);
  link("node-1").cut();
  t.match(await lost, { code: "UNAVAILABLE", reason: "HOST_UNREACHABLE" });
  t.equal(await toolEnds[2], "CALLER_LEFT");
});

test("a slow host slows its client down, and the hub keeps little of what it sends", async (t) => {
  const { promise: mayRead, resolve: letRead } = Promise.withResolvers<void>();
  const { furtherServices, readBytes } = createTestService(mayRead);
  const { hub, authorization } = await startFleetUnderTest(
    t,
    ["node-1"],
    {},
    {
      furtherServices,
      agentOptions: { furtherServices },
    },
  );
  const headers = { authorization, "hostplane-host": "node-1" };
  const client = createClient(ConformanceService, createGrpcTransport({ baseUrl: hub.url }));
  const requestData = new Uint8Array(64 * 1024);
  const count = 256;
  let sentBytes = 0;
  async function* requests() {
    for (let at = 0; at < count; at += 1) {
      sentBytes += requestData.byteLength;
      yield { requestData };
    }
  }
  const answer = client.clientStream(requests(), { headers });
  const other = createClient(UserService, createGrpcTransport({ baseUrl: hub.url }));
  for (let before = -1; before !== sentBytes || sentBytes === 0; ) {
    before = sentBytes;
    for (let calls = 0; calls < 20; calls += 1) {
      await other.listUsers({}, { headers: { authorization } });
    }
  }
  t.ok(sentBytes < 4 * 1024 * 1024, `${sentBytes} bytes were sent while the host read nothing`);
  letRead();
  t.equal(textOf((await answer).payload?.data), `${count} messages`);
  t.equal(readBytes(), count * requestData.byteLength);
});
