import { once } from "node:events";
import { fromBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { EventService, SubscribeResponseSchema } from "../../../../gen/hostplane/v1/event_pb.ts";
import { eventReasons } from "../../../../server/events/reasons.ts";
import { registerService } from "../../../../server/rpc/call/service-handlers.ts";
import { rpcReasons } from "../../../../server/rpc/reasons.ts";
import { startAppUnderTest } from "../../harness/app-under-test.ts";
import { envelopesFrom } from "../../harness/envelopes.ts";
import { eventStreamProtocols, type Protocol, protocols, streamProtocols } from "../../harness/protocols.ts";
import { errorFromAnswer } from "../../harness/raw-error.ts";
import { requestOver } from "../../harness/raw-request.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";
import {
  heartbeat,
  nameOf,
  type SinksUnderTest,
  type Subscriber,
  sharedHeartbeat,
  startSinksUnderTest,
} from "./sink-under-test.ts";

const streamForms = protocols.filter(({ isGet }) => isGet === undefined);

/** Opens a subscription and returns both ends: the answers, of which the first is sent but not read, and the handler's side. */
async function subscribe(t: Test, { url, accepted }: SinksUnderTest, protocol: Protocol) {
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const client = createClient(EventService, protocol.createTransport(url));
  const answers = client.subscribe({}, { signal: leaving.signal })[Symbol.asyncIterator]();
  const first = answers.next();
  const subscriber = await accepted();
  const names = [nameOf((await first).value)];
  /** Reads `count` more answers, and returns the names of all. */
  const read = async (count: number) => {
    for (let index = 0; index < count; index += 1) {
      names.push(nameOf((await answers.next()).value));
    }
    return names;
  };
  return { ...subscriber, answers, read, leave: () => leaving.abort() };
}

test("over every protocol, messages of the sink are between those that the handler yields", async (t) => {
  const app = await startSinksUnderTest(t);
  // Long enough to be compressed if the client accepts that; messages of the sink are not compressed.
  const yielded = `yielded${"x".repeat(5_000)}`;
  const before = ["a", "b", "c"].map(sharedHeartbeat);
  const after = sharedHeartbeat("d");
  for (const protocol of streamForms) {
    const { sink, yieldAll, end, answers, read } = await subscribe(t, app, protocol);
    for (const message of before) {
      t.equal(sink.write(message), true);
    }
    yieldAll([heartbeat(yielded)]);
    await read(4);
    t.equal(sink.write(after), true, "the sink continues after the yielded messages");
    end(new InfraError(eventReasons.SUBSCRIBER_TOO_SLOW, "the subscriber does not keep up"));
    t.same(await read(1), ["first", "a", "b", "c", yielded, "d"], protocol.name);
    t.match(await rpcErrorOf(answers.next()), { reason: "SUBSCRIBER_TOO_SLOW" }, protocol.name);
    t.equal(sink.write(after), false, "nothing is written after the end");
  }
});

test("a stream with a negotiated compression has both kinds of envelopes", async (t) => {
  const { url, accepted } = await startSinksUnderTest(t);
  for (const [version, type, accept, encoding] of [
    ["1.1", "application/connect+proto", "connect-accept-encoding", "connect-content-encoding"],
    ["2", "application/connect+json", "connect-accept-encoding", "connect-content-encoding"],
    ["1.1", "application/grpc-web+proto", "grpc-accept-encoding", "grpc-encoding"],
    ["2", "application/grpc+proto", "grpc-accept-encoding", "grpc-encoding"],
  ] as const) {
    const requested = requestOver[version](url, {
      path: "/hostplane.v1.EventService/Subscribe",
      headers: { "content-type": type, [accept]: "gzip" },
      body: encodeEnvelope(0, Buffer.from(type.endsWith("json") ? "{}" : "")),
    });
    const { sink, yieldAll, end } = await accepted();
    yieldAll([heartbeat("x".repeat(5_000))]);
    sink.write(sharedHeartbeat("y".repeat(5_000)));
    end();
    const answer = await requested;
    t.equal(answer.headers[encoding], "gzip", `${type} over HTTP/${version}`);
    const envelopes = envelopesFrom(answer.body);
    // The first is too short, and the last ends the stream where trailers do not.
    t.same(
      envelopes
        .slice(0, 3)
        .map(({ flags }) => flags)
        .toSorted(),
      [0, 0, 1],
    );
    t.equal(errorFromAnswer(answer), undefined);
  }
});

test("in gRPC-Web's text mode a sink writes base64 too", async (t) => {
  const { url, accepted } = await startSinksUnderTest(t);
  for (const version of ["1.1", "2"] as const) {
    const requested = requestOver[version](url, {
      path: "/hostplane.v1.EventService/Subscribe",
      headers: { "content-type": "application/grpc-web-text" },
      body: Buffer.from(encodeEnvelope(0, Buffer.alloc(0))).toString("base64"),
    });
    const { sink, end } = await accepted();
    sink.write(sharedHeartbeat("shared"));
    end();
    const text = (await requested).body.toString("latin1");
    const parts = text.match(/[A-Za-z0-9+/]+={0,2}/g) ?? [];
    t.equal(parts.join(""), text, "nothing but base64");
    const envelopes = envelopesFrom(Buffer.concat(parts.map((part) => Buffer.from(part, "base64"))));
    const names = envelopes.slice(0, 2).map(({ data }) => nameOf(fromBinary(SubscribeResponseSchema, data)));
    t.same(names, ["first", "shared"], `HTTP/${version}`);
  }
});

test("messages of every size arrive whole and in order, whichever side writes them", async (t) => {
  const app = await startSinksUnderTest(t, { maxUnsentBytes: 64 << 20 });
  const names = Array.from({ length: 120 }, (_, index) => `${index} ${"x".repeat((index * 7919) % 90_000)}`);
  await Promise.all(
    [...streamProtocols, ...eventStreamProtocols].map(async (protocol) => {
      const { sink, yieldAll, read } = await subscribe(t, app, protocol);
      const reading = read(names.length);
      const expected = new Set(names);
      for (const [index, name] of names.entries()) {
        if (index % 3 === 0) {
          yieldAll([heartbeat(name)]);
        } else {
          sink.write(sharedHeartbeat(name));
        }
        if (index % 10 === 0) {
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
      const came = (await reading).slice(1);
      t.same(new Set(came), expected, protocol.name);
      for (const isShared of [true, false]) {
        const ofOne = (list: readonly string[]) =>
          list.filter((name) => (Number.parseInt(name, 10) % 3 !== 0) === isShared);
        t.same(ofOne(came), ofOne(names), `${protocol.name}: ${isShared ? "written" : "yielded"} in order`);
      }
    }),
  );
});

test("a deadline, the end of a call and the gateway's stop end a stream that a sink writes to", async (t) => {
  const app = await startSinksUnderTest(t);
  const tick = sharedHeartbeat("tick");
  const endings: readonly {
    readonly reason: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly bringAbout?: (subscriber: Subscriber) => void;
  }[] = [
    { reason: "DEADLINE", headers: { "grpc-timeout": "150m", "connect-timeout-ms": "150" } },
    {
      reason: "LOGIN_REQUIRED",
      bringAbout: ({ call }) => call.end(new InfraError(rpcReasons.LOGIN_REQUIRED, "the login is over")),
    },
    { reason: "SHUTTING_DOWN", bringAbout: () => void app.close() },
  ];
  for (const { reason, headers = {}, bringAbout } of endings) {
    const ended = await Promise.all(
      (["application/connect+proto", "application/grpc-web+proto", "application/grpc+proto"] as const).map(
        async (type) => {
          const requested = requestOver["2"](app.url, {
            path: "/hostplane.v1.EventService/Subscribe",
            headers: { "content-type": type, ...headers },
            body: encodeEnvelope(0, new Uint8Array(0)),
          });
          const subscriber = await app.accepted();
          const writing = setInterval(() => subscriber.sink.write(tick), 5);
          subscriber.sink.write(tick);
          return { type, requested, subscriber, writing };
        },
      ),
    );
    for (const { subscriber } of ended) {
      bringAbout?.(subscriber);
    }
    for (const { type, requested, subscriber, writing } of ended) {
      const answer = await requested;
      t.match(errorFromAnswer(answer), { reason }, `${reason} by ${type}`);
      t.equal(subscriber.sink.write(tick), false, "nothing is written after it");
      clearInterval(writing);
    }
  }
});

test("a subscriber that leaves ends its call, and none is kept", async (t) => {
  const app = await startSinksUnderTest(t);
  for (const protocol of [...streamProtocols, ...eventStreamProtocols]) {
    const { call, sink, leave } = await subscribe(t, app, protocol);
    sink.write(sharedHeartbeat("a"));
    leave();
    if (!call.signal.aborted) {
      await once(call.signal, "abort");
    }
    t.match(call.signal.reason, { reason: "CALLER_LEFT" }, protocol.name);
    t.equal(sink.write(sharedHeartbeat("b")), false);
  }
  while (app.openCallCount() > 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.same(
    app.log.filter(({ level }) => Number(level) >= 40),
    [],
    "nothing is logged as a fault",
  );
});

test("a message above the gateway's limit ends the call with MESSAGE_TOO_LARGE", async (t) => {
  const app = await startSinksUnderTest(t);
  for (const protocol of [...streamProtocols, ...eventStreamProtocols]) {
    const { sink, answers } = await subscribe(t, app, protocol);
    t.equal(sink.write(sharedHeartbeat("x".repeat(5 << 20))), false);
    const expected = { code: "RESOURCE_EXHAUSTED", reason: "MESSAGE_TOO_LARGE" };
    t.match(await rpcErrorOf(answers.next()), expected, protocol.name);
  }
});

test("opening a sink before the first message is a bug in the handler", async (t) => {
  const service = registerService(EventService, {
    async *subscribe(_request, call) {
      call.openSink();
      yield heartbeat("first");
    },
    async *followEvents() {},
  });
  const { url, log } = await startAppUnderTest(t, [service]);
  const client = createClient(EventService, createGrpcTransport({ baseUrl: url }));
  const answers = client.subscribe({})[Symbol.asyncIterator]();
  t.match(await rpcErrorOf(answers.next()), { code: "INTERNAL" });
  t.match(log, [{ err: { type: "TypeError" } }]);
});
