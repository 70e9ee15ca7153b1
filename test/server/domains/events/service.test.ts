import * as http2 from "node:http2";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { type Test, test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { ErrorInfoSchema } from "../../../../gen/google/rpc/error_details_pb.ts";
import { authReasons } from "../../../../server/domains/auth/reasons.ts";
import { anonymous, type Caller } from "../../../../server/rpc/call/caller.ts";
import { storeReasons } from "../../../../server/store/reasons.ts";
import { envelopesFrom } from "../../harness/envelopes.ts";
import { type Protocol, protocols, streamProtocols } from "../../harness/protocols.ts";
import { rpcErrorFrom, rpcErrorOf } from "../../harness/rpc-error.ts";
import { nameOf, startEventsUnderTest, subscribe, volumeEvent } from "./events-under-test.ts";

const streamForms = protocols.filter(({ isGet }) => isGet === undefined);
const [protocol] = streamForms as [Protocol];
const dayMs = 86_400_000;

/** Returns the error that ends a stream, with the metadata of its ErrorInfo. */
async function endOf(call: Promise<unknown>) {
  const error = await call.then(
    () => new Error("it did not end"),
    (thrown: unknown) => thrown,
  );
  const [info] = ConnectError.from(error).findDetails(ErrorInfoSchema);
  return { ...rpcErrorFrom(error), metadata: info?.metadata ?? {} };
}

test("every protocol delivers a snapshot first, then past events, then new ones", async (t) => {
  const { clientOf, append, events } = await startEventsUnderTest(t);
  await append(["a", "b", "c"]);
  const start = { case: "cursor" as const, value: events.cursorOf(1) };
  const subscribed = streamForms.map((each) => subscribe(t, clientOf(each), { start }));
  for (const [index, { next }] of subscribed.entries()) {
    t.match(
      await next(),
      { case: "snapshot", value: { cursor: events.cursorOf(1) } },
      streamForms[index]?.name ?? "",
    );
    t.match(await next(), {
      case: "event",
      value: {
        cursor: events.cursorOf(2),
        topic: "volumes",
        type: "volume.created",
        resource: "volumeGroups/vg0/volumes/b",
        host: "host",
        operationId: "",
        sandbox: true,
        detail: { case: "volume", value: { name: "b", volumeGroup: "vg0", sizeBytes: 1n << 30n } },
      },
    });
    t.match(await next(), { value: { cursor: events.cursorOf(3) } });
  }
  const live = subscribed.map(({ names }) => names(3));
  await append(["d", "e", "f"], { operationId: "op-1" });
  for (const [index, names] of (await Promise.all(live)).entries()) {
    t.same(names, ["d", "e", "f"], streamForms[index]?.name ?? "");
  }
});

test("a subscription that starts now does not contain earlier events", async (t) => {
  const { clientOf, append, events } = await startEventsUnderTest(t);
  for (let round = 1; round <= 20; round += 1) {
    await append([`before${round}`]);
    const { next, names, leave } = subscribe(t, clientOf(protocol));
    t.match(await next(), { case: "snapshot", value: { cursor: events.cursorOf(round * 2 - 1) } });
    await append([`after${round}`]);
    t.same(await names(1), [`after${round}`]);
    leave();
  }
});

test("a subscription that starts at a time contains the events from that time on", async (t) => {
  const { clientOf, store, append } = await startEventsUnderTest(t);
  const atMs = Date.now() - dayMs;
  await store.run("test.appendAt", { times: [atMs - 1, atMs, atMs + 1] });
  const from = async (time: number, count: number) => {
    const start = { case: "time" as const, value: timestampFromMs(time) };
    const { next, names } = subscribe(t, clientOf(protocol), { start });
    t.match(await next(), { case: "snapshot" });
    return names(count);
  };
  t.same(await from(atMs, 2), ["a", "a"]);
  t.same(await from(atMs + 1, 1), ["a"]);
  const later = from(Date.now() + dayMs, 1);
  // It is subscribed once it has its snapshot, which is before its first event.
  const other = subscribe(t, clientOf(protocol));
  await other.next();
  const appending = setInterval(() => void append(["later"]), 20);
  t.same(await later, ["later"], "a future time means now");
  clearInterval(appending);
});

test("a subscriber gets the topics and resources that it requests", async (t) => {
  const { clientOf, append } = await startEventsUnderTest(t);
  const subscribeTo = (topics: string[], resources: string[]) =>
    subscribe(t, clientOf(protocol), { topics, resources });
  const subscribed = [
    subscribeTo(["test"], []),
    subscribeTo(["test", "volumes"], ["volumeGroups/vg1", "volumeGroups/vg0/volumes/b"]),
    subscribeTo([], ["volumeGroups/vg0"]),
  ];
  await Promise.all(subscribed.map(({ next }) => next()));
  const names = Promise.all(subscribed.map((each, index) => each.names([1, 2, 3][index] ?? 0)));
  await append(["a", "b"]);
  await append(["c"], { resource: "volumeGroups/vg1/volumes/c" });
  await append(["d"], { topic: "test", resource: "volumeGroups/vg0/d" });
  t.same(await names, [["d"], ["b", "c"], ["a", "b", "d"]]);
});

test("an event of an unknown topic is sent without facts", async (t) => {
  const { clientOf, append } = await startEventsUnderTest(t);
  const { next } = subscribe(t, clientOf(protocol));
  await next();
  await append(["a"], { topic: "newer", type: "newer.thing", payload: 5 });
  t.match(await next(), { value: { topic: "newer", type: "newer.thing", detail: { case: undefined } } });
});

test("events whose facts cannot be sent are sent without them, live and later, and logged once", async (t) => {
  const { clientOf, append, events, warnings } = await startEventsUnderTest(t);
  const live = streamForms.map((each) => subscribe(t, clientOf(each)));
  await Promise.all(live.map(({ next }) => next()));
  await append(["wrong"], { payload: { volume: { sizeBytes: "many" } } });
  await append(["wrong"], { payload: { volume: { sizeBytes: "more" } } });
  await append(["large"], {
    type: "volume.tagged",
    payload: { volume: { name: "large", tags: ["x".repeat(5 << 20)] } },
  });
  await append(["right"]);
  const start = { case: "cursor" as const, value: events.cursorOf(0) };
  const late = streamForms.map((each) => subscribe(t, clientOf(each), { start }));
  await Promise.all(late.map(({ next }) => next()));
  for (const { next } of [...live, ...late]) {
    for (const name of ["wrong", "wrong", "large"]) {
      const resource = `volumeGroups/vg0/volumes/${name}`;
      t.match(await next(), { case: "event", value: { resource, detail: { case: undefined } } });
    }
    t.match(await next(), { case: "event", value: { detail: { case: "volume", value: { name: "right" } } } });
  }
  t.match(warnings, [
    /event 1 \(volumes volume.created, .*wrong\) is sent without its facts: .*size_?bytes/i,
    /event 3 .*large\) .*52\d+ bytes exceed limits.maxMessageBytes \(4194304\)/,
  ]);
  t.equal(warnings.length, 2);
});

test("an invalid request is refused with field and limit", async (t) => {
  const { clientOf, events } = await startEventsUnderTest(t);
  const many = (count: number) => Array.from({ length: count }, () => "test");
  const wrong: readonly [Parameters<typeof subscribe>[2], string, RegExp][] = [
    [{ topics: ["volumes", "nothing"] }, "topics[1]", /expected one of test, volumes/],
    [{ topics: many(65) }, "topics", /at most 64, got 65/],
    [{ resources: many(257) }, "resources", /at most 256, got 257/],
    [{ resources: ["a", ""] }, "resources[1]", /1 to 1024 characters/],
    [{ resources: ["a".repeat(1025)] }, "resources[0]", /1 to 1024 characters/],
    [{ resources: ["a/"] }, "resources[0]", /no "\/" at either end/],
    [{ start: { case: "cursor", value: "" } }, "cursor", /a cursor that the gateway returned/],
    [{ start: { case: "cursor", value: `${events.cursorOf(0)}A` } }, "cursor", /a cursor/],
    [{ heartbeatAfter: durationFromMs(999) }, "heartbeat_after", /1 to 60 seconds, got 0.999/],
    [{ heartbeatAfter: durationFromMs(60_001) }, "heartbeat_after", /1 to 60 seconds, got 60.001/],
    [{ start: { case: "time", value: { seconds: 1n << 60n, nanos: 0 } } }, "time", /expected a time/],
  ];
  for (const [request, field, words] of wrong) {
    for (const each of streamProtocols) {
      const error = await rpcErrorOf(subscribe(t, clientOf(each), request).next());
      const expected = { code: "INVALID_ARGUMENT", reason: "INVALID_FIELD", fields: [field], message: words };
      t.match(error, expected, `${field} by ${each.name}`);
    }
  }
  const most = { topics: many(64), resources: ["a".repeat(1024), ...many(255)] };
  t.match(await subscribe(t, clientOf(protocol), most).next(), { case: "snapshot" });
});

test("after silence there is a heartbeat to resume from, also for a subscriber without events", async (t) => {
  const { clientOf, append, events } = await startEventsUnderTest(t, { silenceMs: 200 });
  const startedAtMs = performance.now();
  const subscribed = streamForms.map((each) => subscribe(t, clientOf(each), { topics: ["test"] }));
  await Promise.all(subscribed.map(({ next }) => next()));
  await append(["a", "b"]);
  const first = await Promise.all(subscribed.map(({ next }) => next()));
  t.ok(performance.now() - startedAtMs >= 200, "not before");
  for (const [index, { next }] of subscribed.entries()) {
    const { name = "" } = streamForms[index] ?? {};
    let message = first[index];
    // On a busy machine the silence may have lasted before the events were appended.
    while (message?.case === "heartbeat" && message.value.cursor === events.cursorOf(0)) {
      message = await next();
    }
    t.match(message, { case: "heartbeat", value: { cursor: events.cursorOf(2) } }, name);
  }
  await append(["c"]);
  const start = { case: "cursor" as const, value: events.cursorOf(2) };
  const resumed = subscribe(t, clientOf(protocol), { start });
  await resumed.next();
  t.same(await resumed.names(1), ["c"], "nothing is sent twice");
});

test("a subscriber that requests more frequent heartbeats gets them", async (t) => {
  const { clientOf } = await startEventsUnderTest(t);
  const request = { heartbeatAfter: durationFromMs(1000) };
  const subscribed = streamForms.map((each) => subscribe(t, clientOf(each), request));
  for (const expected of [{ case: "snapshot" }, { case: "heartbeat" }]) {
    for (const message of await Promise.all(subscribed.map(({ next }) => next()))) {
      t.match(message, expected);
    }
  }
});

test("a subscriber that still reads past events gets heartbeats with its own position", async (t) => {
  let isAway = true;
  const { clientOf, append, events } = await startEventsUnderTest(t, {
    silenceMs: 100,
    recent: { maxRecords: 1, maxBytes: 1 },
    aroundStore: ({ run, ...store }) => ({
      ...store,
      run: async (name, args) => {
        if (isAway && "upToSeq" in (args ?? {})) {
          throw new InfraError(storeReasons.STORE_UNAVAILABLE, "the events of before cannot be read now");
        }
        return (await run(name, args)) as never;
      },
    }),
  });
  await append(["a", "b"]);
  const start = { case: "cursor" as const, value: events.cursorOf(0) };
  const { next, names } = subscribe(t, clientOf(protocol), { start });
  t.match(await next(), { case: "snapshot" });
  for (const _each of [1, 2]) {
    t.match(await next(), { case: "heartbeat", value: { cursor: events.cursorOf(0) } });
  }
  isAway = false;
  t.same(await names(2), ["a", "b"]);
});

/** Creates a caller whose services the test changes. */
function changingCaller(): { readonly caller: Caller; current: Partial<Caller> | Error } {
  const state = {
    current: {} as Partial<Caller> | Error,
    caller: {
      ...anonymous,
      actor: "user/alice",
      role: "viewer",
      current(): Caller {
        if (state.current instanceof Error) {
          throw state.current;
        }
        return { ...state.caller, ...state.current };
      },
    } satisfies Caller as Caller,
  };
  return state;
}

test("a caller gets the events of the services that it may call at the time", async (t) => {
  const who = changingCaller();
  const { clientOf, append, events } = await startEventsUnderTest(t, { caller: who.caller, recheckMs: 0 });
  who.current = { services: new Set(["proto.VGService"]) };
  await append(["a"]);
  await append(["b"], { services: ["proto.LVService", "proto.VGService"] });
  await append(["none"], { services: [] });
  const start = { case: "cursor" as const, value: events.cursorOf(0) };
  const { next, names } = subscribe(t, clientOf(protocol), { start });
  await next();
  t.same(await names(1), ["b"]);
  who.current = { services: new Set(["proto.LVService"]) };
  await append(["c"], { services: ["proto.VGService"] });
  await append(["d"]);
  t.same(await names(1), ["d"]);
  who.current = {};
  await append(["e"], { services: [] });
  t.same(await names(1), ["e"], "a caller without a limit gets everything");
  who.current = new InfraError(authReasons.TOKEN_REVOKED, "the session was ended");
  await append(["f"]);
  t.match(await rpcErrorOf(next()), { reason: "TOKEN_REVOKED" });
});

test("a cursor of purged events is refused with the oldest one, from which a stream can begin", async (t) => {
  const { clientOf, store, events } = await startEventsUnderTest(t, { keepMs: 30 * dayMs });
  const nowMs = Date.now();
  await store.run("test.appendAt", { times: [nowMs - 9 * dayMs, nowMs - 8 * dayMs, nowMs, nowMs] });
  await store.run("events.purge", { keepMs: dayMs, limit: 10 });
  for (const each of streamProtocols) {
    const client = clientOf(each);
    const start = { case: "cursor" as const, value: events.cursorOf(1) };
    const gone = await endOf(subscribe(t, client, { start }).next());
    const oldestCursor = events.cursorOf(2);
    const expected = { code: "OUT_OF_RANGE", reason: "HISTORY_GONE", metadata: { oldestCursor } };
    t.match(gone, expected, each.name);
    const { next, names } = subscribe(t, client, { start: { case: "cursor", value: oldestCursor } });
    t.match(await next(), { case: "snapshot" });
    t.equal((await names(2)).length, 2);
  }
});

/** Subscribes over HTTP/2 and reads only the response headers. */
async function subscribeWithoutReading(t: Test, url: string) {
  const session = http2.connect(url, { settings: { initialWindowSize: 1024 } });
  session.on("error", () => {});
  t.teardown(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": "/hostplane.v1.EventService/Subscribe",
    "content-type": "application/connect+json",
  });
  stream.on("error", () => {});
  stream.end(encodeEnvelope(0, Buffer.from("{}")));
  await new Promise((resolve) => stream.once("response", resolve));
  return {
    async readAll() {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) {
        chunks.push(chunk);
      }
      return envelopesFrom(Buffer.concat(chunks)).map(({ flags, data }) => ({
        isEnd: (flags & 2) !== 0,
        json: JSON.parse(data.toString()),
      }));
    },
  };
}

test("a slow subscriber gets its position and can resume there; the others are not affected", async (t) => {
  const { url, clientOf, append, log } = await startEventsUnderTest(t);
  const slow = await subscribeWithoutReading(t, url);
  const quick = subscribe(t, clientOf(protocol));
  await quick.next();
  const tag = "x".repeat(40_000);
  const payloadOf = (name: string) => ({ volume: { name, tags: [tag] } });
  const names = Array.from({ length: 60 }, (_, index) => `v${index}`);
  const seen = quick.names(names.length);
  for (const name of names) {
    await append([name], { payload: payloadOf(name) });
  }
  t.same(await seen, names);
  while (!log.some(({ reason }) => reason === "SUBSCRIBER_TOO_SLOW")) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const messages = await slow.readAll();
  const written = messages.flatMap(({ json }) => (json.event === undefined ? [] : [json.event]));
  t.ok(written.length > 0 && written.length < names.length, `${written.length} of ${names.length}`);
  t.same(written.map(nameOf), names.slice(0, written.length), "the events that were written have no gap");
  t.match(messages[0]?.json, { snapshot: {} });
  const end = messages.at(-1);
  const [detail] = end?.json.error.details ?? [];
  t.match(end, { isEnd: true, json: { error: { code: "resource_exhausted" } } });
  t.match(detail.debug, { reason: "SUBSCRIBER_TOO_SLOW", metadata: { cursor: written.at(-1).cursor } });
  const again = subscribe(t, clientOf(protocol), {
    start: { case: "cursor", value: detail.debug.metadata.cursor },
  });
  await again.next();
  t.same(await again.names(names.length - written.length), names.slice(written.length));
});

test("a gateway that closes ends every subscriber, and nothing waits for it afterwards", async (t) => {
  const { clientOf, append, close, openCallCount, events } = await startEventsUnderTest(t);
  await append(["a"]);
  const subscribed = streamForms.map((each) => subscribe(t, clientOf(each)));
  await Promise.all(subscribed.map(({ next }) => next()));
  subscribed[0]?.leave();
  const ends = subscribed.slice(1).map(({ next }) => rpcErrorOf(next()));
  await close();
  for (const end of await Promise.all(ends)) {
    t.match(end, { code: "UNAVAILABLE", reason: "SHUTTING_DOWN" });
  }
  t.equal(openCallCount(), 0);
  await events.close();
});

test("live events are the same as those that are read later", async (t) => {
  const { clientOf, store, events } = await startEventsUnderTest(t);
  const live = subscribe(t, clientOf(protocol));
  await live.next();
  const facts = {
    operationId: "op-1",
    host: "",
    payload: { volume: { name: "ü", unknown: 1, outside: true } },
  };
  await store.run("events.append", { events: [volumeEvent("ü", facts), volumeEvent("b")] });
  const start = { case: "cursor" as const, value: events.cursorOf(0) };
  const later = subscribe(t, clientOf(protocol), { start });
  await later.next();
  for (const _each of [1, 2]) {
    t.same(await later.next(), await live.next());
  }
});
