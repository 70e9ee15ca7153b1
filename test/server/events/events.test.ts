import { setTimeout as delay } from "node:timers/promises";
import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { EventFilter, EventRecord } from "../../../server/events/event-record.ts";
import { createEvents, type Events, type EventsOptions } from "../../../server/events/events.ts";
import { rpcReasons } from "../../../server/rpc/reasons.ts";
import { storeReasons } from "../../../server/store/reasons.ts";
import type { Store } from "../../../server/store/store.ts";
import { errorOf } from "../store/contract.ts";
import { makeDirectory } from "../store/store-under-test.ts";
import { appendEach, idOf, newEvent, openStoreWithEvents, range } from "./store-with-events.ts";

const dayMs = 86_400_000;
const all: EventFilter = { topics: [], resources: [], services: undefined };
const never = new AbortController().signal;

async function startEvents(
  t: Test,
  store: EventsOptions["store"],
  options: Partial<EventsOptions> = {},
): Promise<Events> {
  const events = await createEvents({
    store,
    keepMs: 7 * dayMs,
    onFailed: (error) => t.comment(String(error)),
    ...options,
  });
  t.teardown(() => events.close());
  return events;
}

/** Returns the IDs of the next events that are followed. */
async function take(followed: AsyncIterable<EventRecord>, count: number): Promise<(number | string)[]> {
  const ids: (number | string)[] = [];
  for await (const record of followed) {
    ids.push(idOf(record));
    if (ids.length === count) {
      break;
    }
  }
  return ids;
}

/** Wraps a store so that it can be unreachable or send no notifications. */
function troubled(store: Store, isShared = false) {
  const state = { isAway: false, isSilent: false, reads: 0 };
  const wrapped: EventsOptions["store"] = {
    isShared,
    async run(name, args) {
      state.reads += name === "events.read" ? 1 : 0;
      if (state.isAway) {
        throw new InfraError(storeReasons.STORE_UNAVAILABLE, "the store is away");
      }
      return (await store.run(name, args)) as never;
    },
    subscribe: (topic, onChange) => store.subscribe(topic, () => state.isSilent || onChange()),
  };
  return { store: wrapped, state };
}

test("a follower gets past and new events, once and in order", async (t) => {
  const store = await openStoreWithEvents(t);
  await appendEach(store, range(1, 300));
  // Small, so that most past events are read from the store.
  const events = await startEvents(t, store, { recent: { maxRecords: 20, maxBytes: 1 << 20 } });
  const followers = [0, 150, 290, 300].map((after) => take(events.follow(after, all, never), 600 - after));
  for (let id = 301; id <= 600; id += 20) {
    await appendEach(store, range(id, id + 19));
  }
  for (const [index, ids] of (await Promise.all(followers)).entries()) {
    t.same(ids, range([1, 151, 291, 301][index] ?? 0, 600));
  }
  t.equal(events.headSeq, 600);
});

test("a follower gets only matching events", async (t) => {
  const store = await openStoreWithEvents(t);
  const events = await startEvents(t, store);
  const follow = (filter: Partial<EventFilter>) => take(events.follow(0, { ...all, ...filter }, never), 2);
  const followers = [
    follow({ topics: ["a"] }),
    follow({ resources: ["r/1"] }),
    follow({ operationId: "op" }),
    follow({ services: new Set(["s.A"]) }),
  ];
  const append = (id: string, facts: object) => store.run("events.append", { events: [newEvent(id, facts)] });
  for (const round of [1, 2]) {
    await append(`topic${round}`, { topic: "a" });
    await append(`resource${round}`, { resource: "r/1/x" });
    await append(`operation${round}`, { operationId: "op" });
    await append(`service${round}`, { services: ["s.A", "s.B"] });
  }
  t.same(await Promise.all(followers), [
    ["topic1", "topic2"],
    ["resource1", "resource2"],
    ["operation1", "operation2"],
    ["service1", "service2"],
  ]);
});

test("following one operation reads no other events from the store, and yields each of its events once", async (t) => {
  const store = await openStoreWithEvents(t);
  const { store: counted, state } = troubled(store);
  const own = { operationId: "op" };
  await appendEach(store, [1], own);
  await appendEach(store, range(2, 500));
  // More than are read at once.
  await appendEach(store, range(501, 600), own);
  await appendEach(store, range(601, 1000));
  const events = await startEvents(t, counted, { recent: { maxRecords: 20, maxBytes: 1 << 20 } });
  await events.currentSeq();
  state.reads = 0;
  const filter = { ...all, ...own };
  const before = events.between(0, 600, filter, never);
  t.same(await take(before, 1000), [1, ...range(501, 600)]);
  t.ok(state.reads <= 3, `${state.reads} reads`);
  t.same(
    await take(events.between(600, 1000, filter, never), 1),
    [],
    "it ends although the last event is about another operation",
  );
  t.same(await take(events.between(0, 560, filter, never), 1000), [1, ...range(501, 560)]);
  const followed = [take(events.follow(0, filter, never), 151), take(events.follow(550, filter, never), 100)];
  for (let id = 1001; id <= 1100; id += 2) {
    await appendEach(store, [id], own);
    await appendEach(store, [id + 1]);
  }
  const odd = range(501, 550).map((half) => half * 2 - 1);
  t.same(await Promise.all(followed), [
    [1, ...range(501, 600), ...odd],
    [...range(551, 600), ...odd],
  ]);
});

test("reading between two events ends when the gateway closes, and with the signal's reason", async (t) => {
  const store = await openStoreWithEvents(t);
  const events = await startEvents(t, store);
  const leaving = new AbortController();
  const [left, closed] = [leaving.signal, never].map((signal) =>
    errorOf(take(events.between(0, 1, all, signal), 1)),
  );
  leaving.abort(new InfraError(rpcReasons.NOT_BUILT, "left"));
  t.match(await left, { reason: "NOT_BUILT" });
  await events.close();
  t.match(await closed, { reason: "SHUTTING_DOWN" });
});

test("a follower ends when its signal is aborted, and when the gateway closes", async (t) => {
  const store = await openStoreWithEvents(t);
  const events = await startEvents(t, store);
  const leaving = new AbortController();
  const [left, closed] = [leaving.signal, never].map((signal) => take(events.follow(0, all, signal), 1));
  leaving.abort(new Error("left"));
  t.same(await left, []);
  await events.close();
  t.same(await closed, []);
  t.same(await take(events.follow(0, all, never), 1), [], "also one that starts later");
});

test("a cursor is the position after its event, also after a restart", async (t) => {
  const directory = await makeDirectory(t);
  const first = await openStoreWithEvents(t, { directory });
  const before = await startEvents(t, first);
  await appendEach(first, range(1, 10));
  const cursor = before.cursorOf(4);
  t.equal(await before.seqOf(cursor), 4);
  await before.close();
  await first.close();
  const store = await openStoreWithEvents(t, { directory });
  const events = await startEvents(t, store);
  t.equal(events.headSeq, 10);
  t.equal(events.cursorOf(4), cursor);
  t.same(await take(events.follow(await events.seqOf(cursor), all, never), 6), range(5, 10));
});

test("a cursor is valid as soon as its event is written", async (t) => {
  const { store, state } = troubled(await openStoreWithEvents(t));
  const events = await startEvents(t, store);
  state.isSilent = true;
  await store.run("events.append", { events: [newEvent(1), newEvent(2)] });
  t.equal(events.headSeq, 0, "there was no notification");
  t.equal(await events.seqOf(events.cursorOf(2)), 2);
  await store.run("events.append", { events: [newEvent(3)] });
  t.equal(await events.currentSeq(), 3);
});

test("a cursor of purged or nonexistent events is refused with the oldest valid cursor", async (t) => {
  const store = await openStoreWithEvents(t);
  const nowMs = Date.now();
  await store.run("test.appendAt", { times: [nowMs - 9 * dayMs, nowMs - 8 * dayMs, nowMs, nowMs] });
  const reader = await startEvents(t, store, { keepMs: 30 * dayMs });
  t.equal(await reader.seqOf(reader.cursorOf(0)), 0);
  const position = reader.follow(0, all, never);
  t.match(await position.next(), { value: { seq: 1 } });
  const place = await reader.seqAtTime(nowMs - 9 * dayMs);
  t.equal(place, 0);

  const purging = await startEvents(t, store, { keepMs: 7 * dayMs });
  while ((await store.run("events.head", undefined)).goneSeq < 2) {
    await delay(5);
  }
  const gone = { reason: "HISTORY_GONE", metadata: { oldestCursor: purging.cursorOf(2) } };
  for (const cursor of [0, 1, 5].map(purging.cursorOf)) {
    t.match(await errorOf(purging.seqOf(cursor)), gone);
  }
  t.match(await errorOf(purging.seqAtTime(nowMs - 9 * dayMs)), gone);
  t.match(await errorOf(purging.after(1, never)), gone);
  t.match(await errorOf(purging.follow(1, all, never).next()), gone);
  t.equal(await purging.seqOf(gone.metadata.oldestCursor), 2);
  t.match(await purging.follow(2, all, never).next(), { value: { seq: 3 } });
  const other = await startEvents(t, await openStoreWithEvents(t));
  t.match(await errorOf(other.seqOf(purging.cursorOf(2))), {
    reason: "HISTORY_GONE",
    metadata: { oldestCursor: other.cursorOf(0) },
  });
  t.match(await errorOf(other.seqOf("nonsense")), { reason: "INVALID_FIELD" });
});

test("followers wait during an outage of the store, and then continue where they stopped", async (t) => {
  const own = await openStoreWithEvents(t);
  await appendEach(own, range(1, 200));
  const { store, state } = troubled(own);
  const failures: unknown[] = [];
  const options = {
    recent: { maxRecords: 5, maxBytes: 1 << 20 },
    onFailed: (error: unknown) => failures.push(error),
  };
  const events = await startEvents(t, store, options);
  const fromStart = events.follow(0, all, never);
  const live = events.follow(200, all, never);
  t.same(await take(events.follow(190, all, never), 10), range(191, 200));
  const newest = live.next();
  t.match(await fromStart.next(), { value: { payload: { id: 1 } } });
  state.isAway = true;
  await appendEach(own, range(201, 210));
  const rest = take(fromStart, 219);
  await delay(300);
  t.match(await errorOf(events.currentSeq()), { reason: "STORE_UNAVAILABLE" });
  t.match(failures, [{ reason: "STORE_UNAVAILABLE" }], "reported once");
  t.equal(events.headSeq, 200);
  state.isAway = false;
  await appendEach(own, range(211, 220));
  t.same(await rest, range(2, 220));
  t.match(await newest, { value: { payload: { id: 201 } } });
  t.same(await take(live, 19), range(202, 220));
});

test("a store without notifications is read again after a failure", async (t) => {
  const own = await openStoreWithEvents(t);
  const { store, state } = troubled(own);
  const events = await startEvents(t, store, { onFailed: () => {} });
  const next = events.follow(0, all, never).next();
  state.isAway = true;
  await appendEach(own, [1]);
  state.isSilent = true;
  await delay(50);
  state.isAway = false;
  t.match(await next, { value: { payload: { id: 1 } } });
});

test("a shared store is polled, a single-gateway store is not", async (t) => {
  for (const isShared of [true, false]) {
    const own = await openStoreWithEvents(t);
    const { store, state } = troubled(own, isShared);
    state.isSilent = true;
    const events = await startEvents(t, store, { pollMs: 10 });
    const leaving = new AbortController();
    const followed = take(events.follow(0, all, leaving.signal), 1);
    await appendEach(own, [1]);
    if (isShared) {
      t.same(await followed, [1]);
    } else {
      await delay(100);
      t.equal(state.reads, 1);
      leaving.abort();
      t.same(await followed, []);
    }
  }
});

test("events that are purged before this gateway has read them are not skipped silently", async (t) => {
  const own = await openStoreWithEvents(t);
  const { store, state } = troubled(own, true);
  const events = await startEvents(t, store, { keepMs: 30 * dayMs, pollMs: 60_000 });
  const next = events.follow(0, all, never).next();
  state.isSilent = true;
  await own.run("test.appendAt", { times: [1, 2, 3] });
  await own.run("events.purge", { keepMs: dayMs, limit: 2 });
  state.isSilent = false;
  await appendEach(own, [4]);
  t.match(await errorOf(next), { reason: "HISTORY_GONE", metadata: { oldestCursor: events.cursorOf(2) } });
  t.match(await events.follow(2, all, never).next(), { value: { seq: 3 } });
});
