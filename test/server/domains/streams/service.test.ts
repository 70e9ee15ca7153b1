import { fromBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { endStreamFromJson } from "@connectrpc/connect/protocol-connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { EventService, SubscribeResponseSchema } from "../../../../gen/hostplane/v1/event_pb.ts";
import { StreamService } from "../../../../gen/hostplane/v1/stream_pb.ts";
import { Role, UserService } from "../../../../gen/hostplane/v1/user_pb.ts";
import { LVService, VGService, WatchResponseSchema } from "../../../../gen/proto/lvmd_pb.ts";
import { AuthService } from "../../../../gen/services/auth/auth_pb.ts";
import { PublicAPI } from "../../../../gen/v1alpha/api_pb.ts";
import { createStreamService } from "../../../../server/domains/streams/service.ts";
import { startAppUnderTest } from "../../harness/app-under-test.ts";
import { adminPassword, startGatewayUnderTest } from "../../harness/gateway-under-test.ts";
import { type Protocol, streamProtocols } from "../../harness/protocols.ts";
import { rpcErrorFrom, rpcErrorOf } from "../../harness/rpc-error.ts";
import { until } from "../../harness/until.ts";
import { type CarriedAnswer, openCarrierClient } from "./carrier-client.ts";

const [protocol] = streamProtocols as [Protocol];
const gib = 2n ** 30n;

/** Returns the error that ended an answer. */
function errorOf(answer: CarriedAnswer) {
  const end = answer.envelopes().at(-1)?.data ?? Buffer.of();
  return rpcErrorFrom(endStreamFromJson(new Uint8Array(end)).error);
}

/** Logs in, and returns a transport of the user. */
async function logIn(url: string, username = "admin", password = adminPassword) {
  const { token } = await createClient(AuthService, protocol.createTransport(url)).login({
    username,
    password,
  });
  return protocol.createTransport(url, { headers: { authorization: `Bearer ${token}` } });
}

test("a carrier carries the answers of several calls, over every protocol", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const volumes = createClient(LVService, protocol.createTransport(url));
  for (const [index, each] of streamProtocols.entries()) {
    const carrier = await openCarrierClient(t, each.createTransport(url));
    const space = await carrier.open(VGService.method.watch);
    // Containers of the sandbox restart at any time, and a busy machine may be silent long enough for a heartbeat.
    const resource = `volumeGroups/sandbox-vg/volumes/carried-${index}`;
    const filter = { resources: [resource], heartbeatAfter: "60s" };
    const events = await carrier.open(EventService.method.subscribe, filter);
    t.equal(space.status, 200, each.name);
    t.match(space.headers, { "content-type": "application/connect+proto", "hostplane-request-id": /./ });
    await volumes.createLV({ name: `carried-${index}`, sizeGb: 1n });
    await carrier.until(events, 2);
    const freeBytes = () =>
      space.envelopes().map(({ data }) => fromBinary(WatchResponseSchema, data).freeBytes);
    // The very first watcher may get its first state twice.
    await until(() => (freeBytes()[0] ?? 0n) - (freeBytes().at(-1) ?? 0n) === gib);
    const [snapshot, event] = events.envelopes().map(({ data }) => fromBinary(SubscribeResponseSchema, data));
    t.equal(snapshot?.message.case, "snapshot");
    t.match(event?.message.value, { resource });
    await volumes.removeLV({ name: `carried-${index}` });
    carrier.close();
  }
});

test("a carried call is checked like any other, and its error is its answer", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const admin = await logIn(url);
  await createClient(UserService, admin).createUser({
    name: "viewer",
    role: Role.VIEWER,
    password: "correct horse",
  });
  const carrier = await openCarrierClient(t, await logIn(url, "viewer", "correct horse"));
  const logs = await carrier.open(PublicAPI.method.getLogs, { podId: "none" }, Number.POSITIVE_INFINITY);
  t.match(errorOf(logs), { code: "PERMISSION_DENIED", reason: "ROLE_REQUIRED" });
  const events = await carrier.open(
    EventService.method.subscribe,
    { topics: ["none"] },
    Number.POSITIVE_INFINITY,
  );
  t.match(errorOf(events), { code: "INVALID_ARGUMENT", reason: "INVALID_FIELD", fields: ["topics[0]"] });
  t.ok(logs.isEnded() && events.isEnded());
});

test("only streams without side effects that the listener serves can be opened", async (t) => {
  const services = ["hostplane.v1.StreamService", "proto.VGService", "proto.LVService"];
  const { url } = await startGatewayUnderTest(t, {
    listen: [{ address: "127.0.0.1:0", auth: "none", role: "operator", services }],
  });
  const transport = protocol.createTransport(url);
  const { carrierId } = await openCarrierClient(t, transport);
  const streams = createClient(StreamService, transport);
  const watch = {
    carrierId,
    stream: 1,
    method: "proto.VGService/Watch",
    contentType: "application/connect+proto",
  };
  const refusals = [
    [{ ...watch, method: "proto.VGService/GetLVList" }, "INVALID_FIELD", "method"],
    [{ ...watch, method: "operations.v1.OperationsService/CreateHypervisor" }, "INVALID_FIELD", "method"],
    [{ ...watch, method: "hostplane.v1.StreamService/CarryStreams" }, "INVALID_FIELD", "method"],
    [{ ...watch, method: "none" }, "INVALID_FIELD", "method"],
    [{ ...watch, contentType: "application/grpc" }, "INVALID_FIELD", "content_type"],
    [{ ...watch, method: "hostplane.v1.EventService/Subscribe" }, "SERVICE_NOT_ON_LISTENER"],
  ] as const;
  for (const [request, reason, ...fields] of refusals) {
    t.match(await rpcErrorOf(streams.openStream(request)), { reason, fields }, JSON.stringify(request));
  }
});

test("a carrier is used only with the credential that opened it", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const carrier = await openCarrierClient(t, await logIn(url));
  const other = createClient(StreamService, await logIn(url));
  const found = { carrierId: carrier.carrierId, stream: 1 };
  t.match(await rpcErrorOf(other.openStream(found)), { code: "NOT_FOUND", reason: "CARRIER_NOT_FOUND" });
  t.match(await rpcErrorOf(other.closeStream(found)), { reason: "CARRIER_NOT_FOUND" });
});

test("a logout ends the carrier and its calls", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const transport = await logIn(url);
  const carrier = await openCarrierClient(t, transport);
  const space = await carrier.open(VGService.method.watch);
  await createClient(AuthService, transport).logout({});
  t.match(await rpcErrorOf(carrier.ended), { code: "UNAUTHENTICATED", reason: "TOKEN_REVOKED" });
  t.ok(space.status === 200);
});

/** Starts the service with a stream that counts its readers. */
async function startCounted(t: Test, heartbeatMs: number) {
  let readers = 0;
  const app = await startAppUnderTest(t, [
    createStreamService({
      routeOf: (path) => app.routeOf(path),
      heartbeatMs,
      log: { warn: (message, cause) => t.fail(`${message}: ${cause}`) },
    }),
    {
      service: VGService,
      handlerOf: () =>
        async function* (_request, call) {
          readers += 1;
          try {
            yield { freeBytes: 1n };
            await new Promise((resolve) => call.onEnd(resolve));
          } finally {
            readers -= 1;
          }
        },
    },
  ]);
  return { ...app, readers: () => readers };
}

test("a closed call ends, and the others go on; all end with the carrier", async (t) => {
  const { url, readers, openCallCount } = await startCounted(t, 20);
  const transport = createGrpcTransport({ baseUrl: url });
  const carrier = await openCarrierClient(t, transport);
  const first = await carrier.open(VGService.method.watch);
  const second = await carrier.open(VGService.method.watch);
  t.equal(readers(), 2);
  await createClient(StreamService, transport).closeStream({ carrierId: carrier.carrierId, stream: 1 });
  await carrier.until(first, 9);
  t.ok(first.isEnded() && !second.isEnded());
  t.equal(readers(), 1);
  await carrier.heartbeats(3);
  carrier.close();
  t.equal((await rpcErrorOf(carrier.ended)).code, "CANCELLED");
  while (openCallCount() > 0) {
    await new Promise(setImmediate);
  }
  t.equal(readers(), 0);
});

test("a call that arrives twice is made once", async (t) => {
  const { url, readers } = await startCounted(t, 20);
  const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1" });
  const carrier = await openCarrierClient(t, transport);
  await carrier.open(VGService.method.watch);
  await createClient(StreamService, transport).openStream({
    carrierId: carrier.carrierId,
    stream: 1,
    method: "proto.VGService/Watch",
    contentType: "application/connect+proto",
  });
  await carrier.heartbeats(3);
  t.equal(readers(), 1);
});
