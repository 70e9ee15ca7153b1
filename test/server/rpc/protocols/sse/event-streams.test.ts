import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { type Test, test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { EventService, type SubscribeRequest } from "../../../../../gen/hostplane/v1/event_pb.ts";
import { OperationsService } from "../../../../../gen/operations/v1/operations_pb.ts";
import { VGService } from "../../../../../gen/proto/lvmd_pb.ts";
import { authReasons } from "../../../../../server/domains/auth/reasons.ts";
import { eventReasons } from "../../../../../server/events/reasons.ts";
import type { Call } from "../../../../../server/rpc/call/call.ts";
import type { AnyHandler, ServiceRegistration } from "../../../../../server/rpc/call/service-handlers.ts";
import { rpcReasons } from "../../../../../server/rpc/reasons.ts";
import { reasonNamed } from "../../../../reason-named.ts";
import { startAppUnderTest } from "../../../harness/app-under-test.ts";
import { type EventStreamRequest, openEventStream } from "../../../harness/event-stream-client.ts";
import { requestHttp1, requestOver } from "../../../harness/raw-request.ts";
import { until } from "../../../harness/until.ts";
import { heartbeat, sharedHeartbeat } from "../../streams/sink-under-test.ts";

const subscribePath = "/hostplane.v1.EventService/Subscribe";
const createPath = "/operations.v1.OperationsService/CreateHypervisor";
const httpVersions = ["1.1", "2"] as const;

/** Starts an application with the test's handlers. */
function startStreams(
  t: Test,
  handlers: Readonly<Record<string, AnyHandler>>,
  settings: Parameters<typeof startAppUnderTest>[2] = {},
) {
  const notBuilt: AnyHandler = () =>
    Promise.reject(new InfraError(rpcReasons.NOT_BUILT, "the test has no handler"));
  const registrations = [EventService, OperationsService, VGService].map(
    (service): ServiceRegistration => ({ service, handlerOf: ({ name }) => handlers[name] ?? notBuilt }),
  );
  return startAppUnderTest(t, registrations, settings);
}

/** Creates a streaming handler that gets its call and request. */
function stream(messages: (call: Call, input: SubscribeRequest) => AsyncGenerator<object, void>): AnyHandler {
  return (input, call) => messages(call, input as SubscribeRequest);
}

/** Waits until the call ends. */
const forever = ({ signal }: Call) => once(signal, "abort").then(() => undefined);

const both = (request: Omit<EventStreamRequest, "httpVersion">): EventStreamRequest[] =>
  httpVersions.map((httpVersion) => ({ ...request, httpVersion }));

test("messages are events with their cursors as ids, and the end is an event too", async (t) => {
  const { url, log } = await startStreams(t, {
    Subscribe: stream(async function* () {
      yield heartbeat("1");
      yield { message: { case: "event", value: { cursor: "2", type: "a\nb\r\n\0\u2028" } } };
      yield heartbeat("");
    }),
  });
  const waits = new Set<number>();
  for (const request of [...both({ path: subscribePath }), ...both({ path: subscribePath, body: "{}" })]) {
    const events = await openEventStream(url, { ...request, headers: { "accept-encoding": "gzip" } });
    t.match(events, {
      status: 200,
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
        "content-encoding": undefined,
        "hostplane-request-id": /./,
      },
    });
    t.same(await events.until(({ type }) => type === "end"), [
      { type: "message", data: '{"heartbeat":{"cursor":"1"}}', lastEventId: "1" },
      {
        type: "message",
        data: '{"event":{"cursor":"2","type":"a\\nb\\r\\n\\u0000\u2028"}}',
        lastEventId: "2",
      },
      { type: "message", data: '{"heartbeat":{}}', lastEventId: "2" },
      { type: "end", data: "{}", lastEventId: "end" },
    ]);
    t.equal(await events.next(), undefined, "nothing follows it");
    const { retryMs = 0 } = events.parser;
    t.ok(retryMs >= 1000 && retryMs < 3000, `${retryMs} ms`);
    waits.add(retryMs);
    t.match(log.at(-1), { rpc: "hostplane.v1.EventService/Subscribe", protocol: "sse", code: "OK" });
  }
  t.ok(waits.size > 1, "browsers that were cut do not all reconnect at once");
});

test("a client that has seen the end is asked not to reconnect, after all checks of a call", async (t) => {
  const ended: Call[] = [];
  const { url, log } = await startStreams(t, {
    Subscribe: stream(async function* (call, { topics, start }) {
      t.same(start.case, undefined, "the id is not used as a cursor");
      if (topics[0] === "secret") {
        throw new InfraError(rpcReasons.ROLE_REQUIRED, "not for you");
      }
      if (topics[0] !== "silent") {
        yield heartbeat("1");
      }
      try {
        await forever(call);
      } finally {
        ended.push(call);
      }
    }),
  });
  for (const version of httpVersions) {
    const come = (topic: string) => {
      const headers = { accept: "text/event-stream", "last-event-id": "end" };
      return requestOver[version](url, { method: "GET", path: `${subscribePath}?topics=${topic}`, headers });
    };
    t.match(await come("volumes"), { status: 204 });
    t.match(log.at(-1), { rpc: "hostplane.v1.EventService/Subscribe", protocol: "sse" }, "it is logged");
    t.match(await come("silent"), { status: 204 }, "it does not wait for a message that never comes");
    t.match(await come("secret"), { status: 403 });
  }
  t.equal(ended.length, 2, "a stream that has not sent anything is ended");
});

test("the headers are sent after a second of silence, whatever the stream waits for", async (t) => {
  const { url } = await startStreams(t, {
    // biome-ignore lint/correctness/useYield: it is silent.
    Subscribe: stream(async function* (call) {
      await forever(call);
    }),
  });
  for (const request of both({ path: subscribePath })) {
    const requestedAtMs = performance.now();
    const events = await openEventStream(url, request);
    const tookMs = performance.now() - requestedAtMs;
    t.equal(events.status, 200);
    t.ok(tookMs > 900 && tookMs < 10_000, `${tookMs} ms`);
    events.close();
  }
});

test("writes of a sink end the silence, so no comment is sent", async (t) => {
  const { url } = await startStreams(
    t,
    {
      Subscribe: stream(async function* (call) {
        yield heartbeat("0");
        const sink = call.openSink();
        for (let count = 1; count <= 20; count++) {
          await delay(50);
          sink.write(sharedHeartbeat(String(count)));
        }
        await forever(call);
      }),
    },
    { keepAliveMs: 500 },
  );
  for (const request of both({ path: subscribePath })) {
    const events = await openEventStream(url, request);
    await events.until(({ lastEventId }) => lastEventId === "20");
    t.equal(events.parser.commentCount, 0, "events every 50 ms");
    events.close();
  }
});

test("a reconnecting browser continues after the last event that it has seen", async (t) => {
  const requests: unknown[] = [];
  const { url } = await startStreams(t, {
    Subscribe: stream(async function* (_call, { start, topics }) {
      requests.push({ start, topics });
      yield heartbeat("1");
    }),
  });
  for (const request of both({ path: `${subscribePath}?topics=a&topics=b&time=2026-01-02T03:04:05Z` })) {
    (await openEventStream(url, { ...request, headers: { "last-event-id": "41" } })).close();
  }
  const body = '{"topics": ["a", "b"], "cursor": "1"}';
  (await openEventStream(url, { path: subscribePath, body, headers: { "last-event-id": "41" } })).close();
  const expected = { start: { case: "cursor", value: "41" }, topics: ["a", "b"] };
  t.same(requests, [expected, expected, expected]);
});

test("an error before the first message has its HTTP status, so a browser does not reconnect", async (t) => {
  let reason = "INTERNAL";
  const { url } = await startStreams(t, {
    // biome-ignore lint/correctness/useYield: it fails before.
    Subscribe: stream(async function* () {
      throw new InfraError(reasonNamed(reason), "the words", { retryAfterMs: 1500 });
    }),
  });
  for (const [each, status, code] of [
    ["INVALID_FIELD", 400, "invalid_argument"],
    ["HISTORY_GONE", 400, "out_of_range"],
    ["LOGIN_REQUIRED", 401, "unauthenticated"],
    ["ROLE_REQUIRED", 403, "permission_denied"],
    ["VOLUME_NOT_FOUND", 404, "not_found"],
    ["CALLER_LIMIT", 429, "resource_exhausted"],
    ["INTERNAL", 500, "internal"],
    ["NOT_BUILT", 501, "unimplemented"],
    ["STORE_UNAVAILABLE", 503, "unavailable"],
  ] as const) {
    reason = each;
    for (const request of [...both({ path: subscribePath }), ...both({ path: subscribePath, body: "{}" })]) {
      const answer = await openEventStream(url, request);
      t.match(answer, { status, headers: { "content-type": "application/json", "retry-after": "2" } }, each);
      t.match(JSON.parse(await answer.text()), {
        code,
        message: "the words",
        details: [{ type: "google.rpc.ErrorInfo", debug: { reason: each, domain: "hostplane" } }, {}],
      });
    }
  }
});

test("an error after the first message is an event, and the last id is kept", async (t) => {
  const { url } = await startStreams(t, {
    Subscribe: stream(async function* () {
      yield heartbeat("7");
      throw new InfraError(eventReasons.SUBSCRIBER_TOO_SLOW, "a\r\nb", { metadata: { cursor: "9" } });
    }),
  });
  for (const request of both({ path: subscribePath })) {
    const events = await openEventStream(url, request);
    await events.next();
    const { type, data = "", lastEventId } = (await events.next()) ?? {};
    t.match({ type, lastEventId }, { type: "error", lastEventId: "7" });
    t.match(JSON.parse(data), {
      message: "a\r\nb",
      details: [{ debug: { reason: "SUBSCRIBER_TOO_SLOW", metadata: { cursor: "9" } } }],
    });
    t.equal(await events.next(), undefined);
  }
});

test("comments are sent during silence, even before the first message", async (t) => {
  const keepAliveMs = 100;
  const breaks: (() => void)[] = [];
  const silence = () => new Promise<void>((resolve) => breaks.push(resolve));
  const { url } = await startStreams(
    t,
    {
      Subscribe: stream(async function* (call) {
        await silence();
        yield heartbeat("1");
        await silence();
        yield heartbeat("2");
        await silence();
        call.end(new InfraError(authReasons.TOKEN_EXPIRED, "the login is over"));
        await forever(call);
      }),
    },
    { keepAliveMs },
  );
  for (const request of both({ path: subscribePath })) {
    const beganAtMs = performance.now();
    const events = await openEventStream(url, request);
    const { parser } = events;
    t.equal(events.status, 200, "the answer begins before there is a message");
    for (const expected of [
      { lastEventId: "1" },
      { lastEventId: "2" },
      { type: "error", data: /TOKEN_EXPIRED/ },
    ]) {
      const before = parser.commentCount;
      const event = events.next();
      await until(() => parser.commentCount > before);
      breaks.shift()?.();
      t.match(await event, expected);
    }
    const mostCount = (performance.now() - beganAtMs) / keepAliveMs;
    t.ok(parser.commentCount <= mostCount, `${parser.commentCount} comments, at most ${mostCount}`);
  }
});

test("a client that leaves ends its call within a second, whatever it waits for", async (t) => {
  const calls: Call[] = [];
  const { url, log, openCallCount } = await startStreams(
    t,
    {
      Subscribe: stream(async function* (call, { topics }) {
        calls.push(call);
        for (let count = 0; count < Number(topics[0]); count++) {
          yield heartbeat(String(count));
        }
        await forever(call);
      }),
    },
    { keepAliveMs: 100 },
  );
  for (const messageCount of [0, 1, 3]) {
    for (const request of both({ path: `${subscribePath}?topics=${messageCount}` })) {
      const events = await openEventStream(url, request);
      for (let count = 0; count < messageCount; count++) {
        await events.next();
      }
      const [call] = calls.splice(0) as [Call];
      const leftAtMs = performance.now();
      events.close();
      if (!call.signal.aborted) {
        await once(call.signal, "abort");
      }
      t.ok(performance.now() - leftAtMs < 20_000, `after ${performance.now() - leftAtMs} ms`);
      t.match(call.signal.reason, { reason: "CALLER_LEFT" });
    }
  }
  while (openCallCount() > 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.same(
    log.filter(({ level }) => Number(level) >= 40),
    [],
    "nothing is logged as a fault",
  );
});

test("a stream is read at the pace of its client", async (t) => {
  let yielded = 0;
  const { url } = await startStreams(t, {
    Subscribe: stream(async function* () {
      for (;;) {
        yield heartbeat(`${yielded++} ${"x".repeat(100_000)}`);
      }
    }),
  });
  for (const request of both({ path: subscribePath })) {
    yielded = 0;
    const events = await openEventStream(url, request);
    t.teardown(() => events.close());
    // Messages are sent until the buffers on the way are full; then no more are requested.
    let before = -1;
    while (yielded !== before) {
      before = yielded;
      await delay(300);
    }
    t.ok(yielded < 300, `${yielded} messages over HTTP/${request.httpVersion}`);
    for (let count = 0; count < before + 5; count++) {
      t.ok((await events.next())?.lastEventId.startsWith(`${count} `));
    }
    t.ok(yielded > before, "reading continues the stream");
    events.close();
  }
});

test("a deadline of either header ends a stream", async (t) => {
  const { url } = await startStreams(t, {
    Subscribe: stream(async function* (call) {
      yield heartbeat("1");
      await forever(call);
    }),
  });
  for (const headers of [{ "connect-timeout-ms": "100" }, { "grpc-timeout": "100m" }]) {
    for (const request of both({ path: subscribePath, headers })) {
      const events = await openEventStream(url, request);
      await events.next();
      t.match(await events.next(), { type: "error", data: /"code":"deadline_exceeded"/ });
    }
  }
  const wrong = await openEventStream(url, {
    path: subscribePath,
    headers: { "connect-timeout-ms": "soon" },
  });
  t.match(wrong, { status: 400 });
  wrong.close();
});

test("the stop of the gateway is reported", async (t) => {
  const app = await startStreams(t, {
    Subscribe: stream(async function* (call) {
      yield heartbeat("1");
      await forever(call);
    }),
  });
  const streams = await Promise.all(
    both({ path: subscribePath }).map((request) => openEventStream(app.url, request)),
  );
  await Promise.all(streams.map((events) => events.next()));
  void app.close();
  for (const events of streams) {
    t.match(await events.next(), { type: "error", data: /SHUTTING_DOWN/, lastEventId: "1" });
  }
});

test("limits apply to bodies and messages", async (t) => {
  const { url } = await startStreams(
    t,
    {
      Subscribe: stream(async function* () {
        yield heartbeat("x".repeat(1_970));
        yield heartbeat("x".repeat(2_000));
      }),
    },
    { maxMessageBytes: 2_000 },
  );
  for (const request of both({ path: subscribePath })) {
    const events = await openEventStream(url, request);
    t.match(await events.next(), { type: "message" }, "framing lines do not count");
    t.match(await events.next(), { type: "error", data: /MESSAGE_TOO_LARGE/ });
    const body = JSON.stringify({ topics: ["x".repeat(2_000)] });
    const refused = await openEventStream(url, { ...request, body });
    t.match(await refused.text(), /MESSAGE_TOO_LARGE/);
  }
});

test("an answer without a JSON form is a fault of the gateway, and is logged", async (t) => {
  const { url, log } = await startStreams(t, {
    Subscribe: stream(async function* () {
      yield { message: { case: "heartbeat", value: { cursor: 7 } } };
    }),
  });
  const events = await openEventStream(url, { path: subscribePath });
  await t.rejects(async () => await events.next(), "the stream is cut, without an end");
  t.match(
    log.find(({ level }) => Number(level) >= 40),
    { msg: "an answer could not be written" },
  );
});

test("a change accepts a body with known fields, also compressed, and no GET", async (t) => {
  const requests: unknown[] = [];
  const { url } = await startStreams(t, {
    CreateHypervisor: async function* (input: unknown, call: Call) {
      requests.push((input as { id: string }).id);
      call.noteOperation("op-1");
      yield { msg: "made" };
    } as AnyHandler,
  });
  for (const httpVersion of httpVersions) {
    const request = { httpVersion, path: createPath, body: '{"id": "hv-1"}' };
    const events = await openEventStream(url, request);
    t.equal(events.headers["hostplane-operation"], "op-1");
    t.match(await events.next(), { data: '{"msg":"made"}', lastEventId: "" });
    t.match(await events.next(), { type: "end" });
    const typo = await openEventStream(url, { ...request, body: '{"idd": "hv-1"}' });
    t.equal(typo.status, 400);
    t.match(await typo.text(), /UNKNOWN_FIELD/);
    const inQuery = await openEventStream(url, { ...request, path: `${createPath}?id=hv-2` });
    t.match(await inQuery.text(), /UNKNOWN_FIELD/);
    const keyed = await openEventStream(url, { ...request, headers: { "idempotency-key": "a" } });
    t.match(await keyed.text(), /NOT_BUILT/);
    const get = await openEventStream(url, { httpVersion, path: `${createPath}?id=hv-1` });
    t.match(get, { status: 405, headers: { allow: "POST" } });
    get.close();
  }
  t.same(requests, ["hv-1", "hv-1"]);
  const headers = {
    accept: "text/event-stream",
    "content-type": "application/json",
    "content-encoding": "gzip",
  };
  const body = gzipSync('{"id": "hv-z"}');
  t.match(await requestHttp1(url, { path: createPath, headers, body }), { status: 200 });
  t.equal(requests.at(-1), "hv-z");
  const unknown = { ...headers, "content-encoding": "zip" };
  t.match(await requestHttp1(url, { path: createPath, headers: unknown, body }), { status: 501 });
});

test("a read names unknown fields", async (t) => {
  const { url } = await startStreams(t, {
    Subscribe: stream(async function* () {
      yield heartbeat("1");
    }),
  });
  for (const request of [
    { path: `${subscribePath}?topic=a&topics=b` },
    { path: subscribePath, body: '{"topic": "a"}' },
  ]) {
    const events = await openEventStream(url, request);
    t.equal(events.headers["hostplane-unknown-fields"], "topic");
    events.close();
  }
});

test("a request that does not accept events gets an error that says how, or uses another protocol", async (t) => {
  const { url } = await startStreams(t, {
    Subscribe: stream(async function* () {
      yield heartbeat("1");
    }),
    GetFreeBytes: async () => ({ freeBytes: 7n }),
  });
  const accept = "text/event-stream";
  for (const version of httpVersions) {
    const send = (method: string, headers: Readonly<Record<string, string>>, path = subscribePath) =>
      requestOver[version](url, { method, path, headers, ...(method === "POST" ? { body: "{}" } : {}) });
    for (const method of ["HEAD", "PUT", "DELETE", "PATCH"]) {
      t.match(await send(method, { accept }), { status: 405, headers: { allow: "GET, POST" } }, method);
    }
    const anything = await send("GET", { accept: "*/*" });
    t.equal(anything.status, 406);
    t.match(anything.body.toString(), /accept: text\/event-stream/);
    const json = { "content-type": "application/json" };
    const plain = await send("POST", json);
    t.equal(plain.status, 415);
    t.match(plain.body.toString(), /accept: text\/event-stream/);
    t.match(await send("POST", { accept, "content-type": "application/x-www-form-urlencoded" }), {
      status: 415,
    });
    const connect = await send("POST", { accept, "content-type": "application/connect+json" });
    t.match(connect, { status: 200, headers: { "content-type": "application/connect+json" } });
    const unary = await send("POST", { accept, ...json }, "/proto.VGService/GetFreeBytes");
    t.match(
      unary,
      { status: 200, headers: { "content-type": "application/json" } },
      "a single answer is not a stream",
    );
    t.equal(unary.body.toString(), '{"freeBytes":"7"}');
  }
});
