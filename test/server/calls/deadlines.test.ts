import { once } from "node:events";
import * as http2 from "node:http2";
import { createClient } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { LVService, VGService } from "../../../gen/proto/lvmd_pb.ts";
import type { Call } from "../../../server/rpc/call/call.ts";
import { registerService } from "../../../server/rpc/call/service-handlers.ts";
import { startAppUnderTest } from "../harness/app-under-test.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { streamProtocols } from "../harness/protocols.ts";
import { errorFromAnswer } from "../harness/raw-error.ts";
import { requestOver } from "../harness/raw-request.ts";
import { rpcErrorOf } from "../harness/rpc-error.ts";
import { until } from "../harness/until.ts";

/** The wire forms of a deadline. Client libraries enforce their own deadline, and would never see the server's. */
const forms = [
  { version: "1.1", type: "application/connect+proto", headers: { "connect-timeout-ms": "150" } },
  { version: "2", type: "application/connect+proto", headers: { "connect-timeout-ms": "150" } },
  { version: "1.1", type: "application/grpc-web+proto", headers: { "grpc-timeout": "150m" } },
  { version: "2", type: "application/grpc-web+proto", headers: { "grpc-timeout": "150m" } },
  { version: "2", type: "application/grpc+proto", headers: { "grpc-timeout": "150000u" } },
] as const;
const unaryForms = [
  ...forms.filter(({ type }) => type.startsWith("application/grpc")),
  { version: "1.1", type: "application/proto", headers: { "connect-timeout-ms": "150" } },
  { version: "2", type: "application/proto", headers: { "connect-timeout-ms": "150" } },
] as const;
const emptyEnvelope = encodeEnvelope(0, new Uint8Array(0));
const deadline = { code: "DEADLINE_EXCEEDED", reason: "DEADLINE", domain: "hostplane" };

test("a client's deadline ends a silent stream with DEADLINE", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  for (const { version, type, headers } of forms) {
    const startedAtMs = performance.now();
    const answer = await requestOver[version](url, {
      path: "/proto.VGService/Watch",
      headers: { "content-type": type, ...headers },
      body: emptyEnvelope,
    });
    t.match(errorFromAnswer(answer), deadline, `${type} over HTTP/${version}`);
    const tookMs = performance.now() - startedAtMs;
    t.ok(tookMs >= 140 && tookMs < 20_000, `after ${tookMs} ms`);
  }
});

const never = () => new Promise<never>(() => {});

/** Services that never answer, with the calls they received. */
function createSilentServices() {
  const calls: Call[] = [];
  const remember = (_request: unknown, call: Call) => {
    calls.push(call);
    return never();
  };
  return {
    calls,
    registrations: [
      registerService(LVService, {
        createLV: remember,
        removeLV: remember,
        resizeLV: remember,
        createBackup: remember,
      }),
      registerService(VGService, {
        getLVList: remember,
        getFreeBytes: remember,
        watch(_request, call) {
          calls.push(call);
          return { [Symbol.asyncIterator]: () => ({ next: never }) };
        },
      }),
    ],
  };
}

test("a client's deadline ends a unary call with DEADLINE and aborts its handler's signal", async (t) => {
  const { calls, registrations } = createSilentServices();
  const { url } = await startAppUnderTest(t, registrations);
  for (const { version, type, headers } of unaryForms) {
    const answer = await requestOver[version](url, {
      path: "/proto.VGService/GetFreeBytes",
      headers: { "content-type": type, ...headers },
      body: type === "application/proto" ? "" : emptyEnvelope,
    });
    t.match(errorFromAnswer(answer), deadline, `${type} over HTTP/${version}`);
    t.equal(calls.at(-1)?.signal.aborted, true, "the signal is aborted");
  }
});

test("a unary call is ended by the gateway's cap, whatever the client allows", async (t) => {
  const { registrations } = createSilentServices();
  const { url } = await startAppUnderTest(t, registrations, { maxDeadlineMs: 200 });
  for (const timeoutMs of [undefined, 60_000]) {
    await Promise.all(
      streamProtocols.map(async ({ name, createTransport }) => {
        const client = createClient(VGService, createTransport(url));
        const startedAtMs = performance.now();
        const options = timeoutMs === undefined ? {} : { timeoutMs };
        t.match(await rpcErrorOf(client.getFreeBytes({}, options)), deadline, name);
        const tookMs = performance.now() - startedAtMs;
        t.ok(tookMs >= 190 && tookMs < 20_000, `after ${tookMs} ms`);
      }),
    );
  }
});

test("the cap does not apply to streams", async (t) => {
  const { registrations } = createSilentServices();
  const { url } = await startAppUnderTest(t, registrations, { maxDeadlineMs: 100 });
  const client = createClient(VGService, createGrpcTransport({ baseUrl: url }));
  const leaving = new AbortController();
  setTimeout(() => leaving.abort(), 400);
  const watched = client.watch({}, { signal: leaving.signal })[Symbol.asyncIterator]();
  t.match(await rpcErrorOf(watched.next()), { code: "CANCELLED" }, "the client ended it, not the gateway");
});

test("a client that never finishes its request gets DEADLINE too", async (t) => {
  const { registrations } = createSilentServices();
  const { url } = await startAppUnderTest(t, registrations);
  const session = http2.connect(url);
  t.teardown(() => session.destroy());
  for (const method of ["GetFreeBytes", "Watch"]) {
    const stream = session.request({
      ":method": "POST",
      ":path": `/proto.VGService/${method}`,
      "content-type": "application/grpc",
      "grpc-timeout": "150m",
    });
    stream.write(emptyEnvelope);
    stream.resume();
    const [headers] = await once(stream, "response");
    const [trailers = headers] = headers["grpc-status"] ? [headers] : await once(stream, "trailers");
    t.equal(trailers["grpc-status"], "4", method);
  }
});

test("a stopping gateway ends waiting calls with SHUTTING_DOWN", async (t) => {
  const { calls, registrations } = createSilentServices();
  const { url, close } = await startAppUnderTest(t, registrations);
  const clients = streamProtocols.map(({ name, createTransport }) => ({
    name,
    client: createClient(VGService, createTransport(url)),
  }));
  const errors = clients.flatMap(({ name, client }) => [
    { name: `${name}, unary`, error: rpcErrorOf(client.getFreeBytes({})) },
    { name: `${name}, stream`, error: rpcErrorOf(client.watch({})[Symbol.asyncIterator]().next()) },
  ]);
  await until(() => calls.length >= errors.length);
  await close();
  for (const { name, error } of errors) {
    t.match(await error, { code: "UNAVAILABLE", reason: "SHUTTING_DOWN", domain: "hostplane" }, name);
  }
});

test("a mutation continues after its caller's deadline", async (t) => {
  const gate = Promise.withResolvers<void>();
  let isDone = false;
  const slow = async () => {
    await gate.promise;
    isDone = true;
    return {};
  };
  const services = registerService(LVService, {
    createLV: slow,
    removeLV: slow,
    resizeLV: slow,
    createBackup: slow,
  });
  const { url } = await startAppUnderTest(t, [services], { maxDeadlineMs: 100 });
  const client = createClient(LVService, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
  t.match(await rpcErrorOf(client.removeLV({ name: "a" })), deadline);
  t.equal(isDone, false);
  gate.resolve();
  await until(() => isDone);
});
