import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { setTimeout as delay } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError, createClient } from "@connectrpc/connect";
import { test } from "tap";
import {
  ServerReflection,
  type ServerReflectionRequestSchema,
} from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { SystemService } from "../../../gen/hostplane/v1/system_pb.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { type Protocol, protocols } from "../harness/protocols.ts";
import { rpcErrorFrom, rpcErrorOf } from "../harness/rpc-error.ts";

const [connectJson] = protocols as readonly [Protocol];
const [grpc] = protocols.filter(({ name }) => name.startsWith("gRPC binary")) as [Protocol];

test("calls that cost more CPU time than the limit are refused, and the error names the limit", async (t) => {
  const { url } = await startGatewayUnderTest(t, { limits: { caller: { cpuMsPerSecond: 1 } } });
  const client = createClient(SystemService, connectJson.createTransport(url));
  for (;;) {
    const refused = await rpcErrorOf(client.getInfo({}));
    if (refused.code !== "OK") {
      t.match(refused, {
        code: "RESOURCE_EXHAUSTED",
        reason: "CALLER_LIMIT",
        message: /uses more CPU time than limits\.caller\.cpuMsPerSecond allows \(1\)/,
      });
      return;
    }
  }
});

const callsAtOnce = 64;

test("concurrent calls of one caller that leaves answers unread cost no more than the limits allow", async (t) => {
  const unreadBytes = 4096;
  const { url } = await startGatewayUnderTest(t, { limits: { caller: { unreadBytes, reads: 2 } } });
  const pods = createClient(PodService, connectJson.createTransport(url));
  await pods.pullImage({ reference: "docker.io/library/alpine:3.20" });
  const session = connect(url, { settings: { initialWindowSize: 0 } });
  t.teardown(() => session.destroy());
  await once(session, "remoteSettings");
  const statuses = await Promise.all(
    Array.from({ length: callsAtOnce }, async () => {
      const stream = session.request({
        ":method": "POST",
        ":path": "/hostplane.v1.OperationService/ListOperations",
        "content-type": "application/json",
      });
      stream.end("{}");
      const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
      return { status: Number(headers[":status"]), bytes: Number(headers["content-length"]) };
    }),
  );
  const answered = statuses.filter(({ status }) => status === 200);
  const [{ bytes = 0 } = {}] = answered;
  t.ok(answered.length <= Math.ceil(unreadBytes / bytes) + 1, `${answered.length} answers of ${bytes} bytes`);
  t.ok(statuses.filter(({ status }) => status === 429).length >= callsAtOnce / 2, "the others are refused");
});

test("messages of a request stream are limited like calls", async (t) => {
  const { url } = await startGatewayUnderTest(t, { limits: { caller: { requestsPerSecond: 5 } } });
  const client = createClient(ServerReflection, grpc.createTransport(url));
  async function* requests(): AsyncGenerator<MessageInitShape<typeof ServerReflectionRequestSchema>> {
    for (;;) {
      yield { messageRequest: { case: "listServices", value: "" } };
      await delay(1);
    }
  }
  const thrown = await (async () => {
    for await (const _answer of client.serverReflectionInfo(requests())) {
      // Each answer costs the gateway as much as a call.
    }
  })().catch((error: unknown) => error);
  t.match(rpcErrorFrom(thrown), {
    code: "RESOURCE_EXHAUSTED",
    reason: "CALLER_LIMIT",
    message: /limits\.caller\.requestsPerSecond/,
  });
});

/** Many more messages than the CPU time of an address without a login allows. */
const messagesMost = 3000;

test("messages of a request stream use the CPU time of an address without a login", async (t) => {
  const { url } = await startGatewayUnderTest(t, {
    limits: { caller: { requestsPerSecond: 1_000_000 }, unknown: { cpuMsPerSecond: 10 } },
  });
  const client = createClient(ServerReflection, grpc.createTransport(url));
  let answers = 0;
  async function* requests(): AsyncGenerator<MessageInitShape<typeof ServerReflectionRequestSchema>> {
    for (let sent = 0; sent < messagesMost; sent += 1) {
      yield { messageRequest: { case: "listServices", value: "" } };
    }
  }
  const thrown = await (async () => {
    for await (const _answer of client.serverReflectionInfo(requests())) {
      answers += 1;
    }
  })().catch((error: unknown) => error);
  t.ok(thrown instanceof ConnectError, `the connection is cut after ${answers} answers`);
});
