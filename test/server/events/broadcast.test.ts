import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { authReasons } from "../../../server/domains/auth/reasons.ts";
import { type Broadcast, createBroadcast } from "../../../server/events/broadcast.ts";
import type { EventFilter, EventRecord } from "../../../server/events/event-record.ts";
import type { Events } from "../../../server/events/events.ts";
import { eventReasons } from "../../../server/events/reasons.ts";
import { errorOf } from "../store/contract.ts";

const all: EventFilter = { topics: [], resources: [], services: undefined };

/** Creates a broadcast of events that the test triggers. */
function startBroadcast(t: Test, { headSeq = 0, recheckMs = 0 } = {}) {
  const waiting: (EventRecord | Error)[] = [];
  const created: string[] = [];
  const closing = new AbortController();
  let wake = () => {};
  let onAllWritten = () => {};
  // Heartbeats alone do not keep the process alive.
  const alive = setInterval(() => {}, 1000);
  const state = { headSeq };
  const events: Pick<Events, "follow" | "headSeq" | "cursorOf"> = {
    get headSeq() {
      return state.headSeq;
    },
    cursorOf: (seq) => `c${seq}`,
    async *follow(afterSeq) {
      let seq = afterSeq;
      while (!closing.signal.aborted) {
        const next = waiting.shift();
        if (next instanceof Error) {
          throw next;
        }
        if (next === undefined) {
          onAllWritten();
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        } else {
          t.ok(next.seq > seq);
          seq = next.seq;
          yield next;
        }
      }
    },
  };
  const broadcast: Broadcast<string> = createBroadcast({
    events,
    messageOf: ({ seq, type }) => {
      if (type === "bad") {
        throw new TypeError("bad");
      }
      created.push(`e${seq}`);
      return `e${seq}`;
    },
    heartbeatOf: (cursor) => {
      created.push(cursor);
      return cursor;
    },
    recheckMs,
  });
  const close = () => {
    clearInterval(alive);
    closing.abort();
    wake();
  };
  t.teardown(close);
  return {
    broadcast,
    created,
    state,
    close,
    /** Triggers events; resolves once all of them are written. */
    happen(...records: (Partial<EventRecord> | Error)[]): Promise<void> {
      return new Promise((resolve) => {
        onAllWritten = resolve;
        waiting.push(...(records as (EventRecord | Error)[]));
        wake();
      });
    },
  };
}

/** Creates a subscriber that accepts a number of messages. */
function subscriber(takes = Number.POSITIVE_INFINITY, filter = all, silenceMs = 60_000) {
  const got: string[] = [];
  let wake = () => {};
  const leaving = new AbortController();
  return {
    got,
    leaving,
    joining: {
      filter,
      writtenAtMs: performance.now(),
      silenceMs,
      sink: {
        write(message: string) {
          if (got.length >= takes) {
            return false;
          }
          got.push(message);
          wake();
          return true;
        },
      },
    },
    async untilGot(count: number) {
      while (got.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

function join(
  broadcast: Broadcast<string>,
  afterSeq: number,
  { joining, leaving }: ReturnType<typeof subscriber>,
) {
  const joined = broadcast.join(afterSeq, joining, leaving.signal);
  if (joined === undefined) {
    throw new Error("there are events to be read first");
  }
  joined.catch(() => {});
  return joined;
}

test("every subscriber gets the events after its position, and each message is built once", async (t) => {
  const { broadcast, happen, created } = startBroadcast(t, { headSeq: 5 });
  const early = subscriber();
  const ahead = subscriber();
  void join(broadcast, 5, early);
  // It has already read two more events than were broadcast.
  void join(broadcast, 8, ahead);
  await happen({ seq: 7 }, { seq: 8 }, { seq: 9 });
  const late = subscriber();
  t.equal(broadcast.join(8, late.joining, late.leaving.signal), undefined, "the ninth must be read first");
  void join(broadcast, 9, late);
  await happen({ seq: 12 });
  t.same(early.got, ["e7", "e8", "e9", "e12"]);
  t.same(ahead.got, ["e9", "e12"]);
  t.same(late.got, ["e12"]);
  t.same(created, ["e7", "e8", "e9", "e12"]);
});

test("a subscriber gets only matching events, and nothing after it has left", async (t) => {
  const { broadcast, happen, created } = startBroadcast(t);
  const volumes = subscriber(9, { ...all, topics: ["volumes"] });
  const joined = join(broadcast, 0, volumes);
  await happen({ seq: 1, topic: "operations" }, { seq: 2, topic: "volumes" });
  volumes.leaving.abort();
  await joined;
  await happen({ seq: 3, topic: "volumes" });
  t.same(volumes.got, ["e2"]);
  t.same(created, ["e2"], "no message is built for other events");
  const gone = subscriber();
  gone.leaving.abort();
  await join(broadcast, 3, gone);
});

test("a slow subscriber gets the position of its last event, and the others are not affected", async (t) => {
  const { broadcast, happen } = startBroadcast(t);
  const quick = subscriber();
  const slow = subscriber(1, { ...all, topics: ["volumes"] });
  void join(broadcast, 0, quick);
  const ended = errorOf(join(broadcast, 0, slow));
  await happen(
    { seq: 1, topic: "volumes" },
    { seq: 4, topic: "operations" },
    { seq: 6, topic: "volumes" },
    { seq: 7, topic: "volumes" },
  );
  t.match(await ended, { reason: "SUBSCRIBER_TOO_SLOW", metadata: { cursor: "c4" } });
  t.same(slow.got, ["e1"]);
  t.same(quick.got, ["e1", "e4", "e6", "e7"]);
});

test("a subscriber whose filter throws ends with that error, and the others are not affected", async (t) => {
  const { broadcast, happen } = startBroadcast(t);
  let isRevoked = false;
  const revocable = () =>
    subscriber(9, {
      ...all,
      get services() {
        if (isRevoked) {
          throw new InfraError(authReasons.TOKEN_REVOKED, "revoked");
        }
        return undefined;
      },
    });
  const [revoked, other] = [revocable(), subscriber()];
  const ended = errorOf(join(broadcast, 0, revoked));
  void join(broadcast, 0, other);
  await happen({ seq: 1 });
  isRevoked = true;
  await happen({ seq: 2 });
  t.match(await ended, { reason: "TOKEN_REVOKED" });
  t.same(revoked.got, ["e1"]);
  t.match(
    await errorOf(join(broadcast, 2, revocable())),
    { reason: "TOKEN_REVOKED" },
    "it cannot join either",
  );
  await happen({ seq: 3 });
  t.same(other.got, ["e1", "e2", "e3"]);
});

test("the services of callers are read again after an interval, not for every event", async (t) => {
  const { broadcast, happen } = startBroadcast(t, { recheckMs: 100 });
  let services = new Set(["a"]);
  let requestCount = 0;
  const limited = subscriber(9, {
    ...all,
    get services() {
      requestCount += 1;
      return services;
    },
  });
  void join(broadcast, 0, limited);
  const both = { services: ["a", "b"] };
  await happen({ seq: 1, services: ["a"] }, { seq: 2, services: ["b"] }, { seq: 3, ...both });
  services = new Set(["b"]);
  const beforeMs = performance.now();
  for (let seq = 4; performance.now() - beforeMs < 150; seq += 1) {
    await happen({ seq, services: ["c"] });
  }
  await happen({ seq: 1e6, services: ["a"] }, { seq: 1e6 + 1, services: ["b"] });
  t.same(limited.got, ["e1", "e3", "e1000001"]);
  t.ok(requestCount >= 2 && requestCount <= 5, `read ${requestCount} times`);
});

test("an event whose message cannot be built is not skipped: its subscribers end", async (t) => {
  const { broadcast, happen } = startBroadcast(t);
  const [wanting, other] = [subscriber(), subscriber(9, { ...all, topics: ["volumes"] })];
  const ended = t.rejects(join(broadcast, 0, wanting), { message: "bad" });
  void join(broadcast, 0, other);
  await happen({ seq: 1, type: "bad", topic: "tests" }, { seq: 2, topic: "volumes" });
  await ended;
  t.same(other.got, ["e2"]);
});

test("a heartbeat after silence contains the position up to which everything is written", async (t) => {
  const { broadcast, happen, created } = startBroadcast(t, { headSeq: 3 });
  const silent = [1, 2].map(() => subscriber(9, { ...all, topics: ["volumes"] }, 150));
  const ahead = subscriber(9, all, 150);
  for (const each of silent) {
    void join(broadcast, 3, each);
  }
  void join(broadcast, 8, ahead);
  const startedAtMs = performance.now();
  await happen({ seq: 5, topic: "operations" });
  await Promise.all([...silent, ahead].map((each) => each.untilGot(1)));
  t.ok(performance.now() - startedAtMs > 130, "not before");
  t.same(
    silent.map(({ got }) => got),
    [["c5"], ["c5"]],
  );
  t.same(ahead.got, ["c8"], "its own position is further ahead");
  t.same(created.toSorted(), ["c5", "c8"], "one message for all at the same position");
  await happen({ seq: 9, topic: "volumes" });
  await Promise.all(silent.map((each) => each.untilGot(3)));
  t.same(silent[0]?.got, ["c5", "e9", "c9"]);
});

test("a heartbeat that is not accepted ends the subscriber too", async (t) => {
  const { broadcast } = startBroadcast(t, { headSeq: 3 });
  t.match(await errorOf(join(broadcast, 3, subscriber(0, all, 30))), {
    reason: "SUBSCRIBER_TOO_SLOW",
    metadata: { cursor: "c3" },
  });
});

test("when events were purged before they were read, every subscriber ends, and later ones get the newest events", async (t) => {
  const { broadcast, happen, state } = startBroadcast(t);
  const before = subscriber();
  const ended = errorOf(join(broadcast, 0, before));
  state.headSeq = 20;
  await happen(new InfraError(eventReasons.HISTORY_GONE, "gone"));
  t.match(await ended, { reason: "HISTORY_GONE" });
  const after = subscriber();
  t.equal(broadcast.join(0, after.joining, after.leaving.signal), undefined);
  void join(broadcast, 20, after);
  await happen({ seq: 21 });
  t.same(after.got, ["e21"]);
});

test("following events is not retried without a pause", async (t) => {
  let tries = 0;
  const events: Pick<Events, "follow" | "headSeq" | "cursorOf"> = {
    headSeq: 0,
    cursorOf: String,
    // biome-ignore lint/correctness/useYield: it has nothing to yield
    async *follow() {
      tries += 1;
      throw new InfraError(hostReasons.INTERNAL, "broken");
    },
  };
  createBroadcast<string>({
    events,
    messageOf: String,
    heartbeatOf: String,
    recheckMs: 1000,
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.ok(tries >= 1 && tries <= 10, `${tries} tries`);
});

test("remaining subscribers end when the events are closed", async (t) => {
  const { broadcast, close } = startBroadcast(t);
  const ended = errorOf(join(broadcast, 0, subscriber()));
  close();
  t.match(await ended, { reason: "SHUTTING_DOWN" });
});

test("many events at once do not block the rest of the process", async (t) => {
  const { broadcast, happen } = startBroadcast(t);
  const slowToTake = subscriber();
  const { write } = slowToTake.joining.sink;
  slowToTake.joining.sink.write = (message) => {
    const untilMs = performance.now() + 1;
    while (performance.now() < untilMs) {}
    return write(message);
  };
  void join(broadcast, 0, slowToTake);
  let turns = 0;
  const count = setInterval(() => {
    turns += 1;
  }, 1);
  await happen(...Array.from({ length: 100 }, (_, index) => ({ seq: index + 1 })));
  await slowToTake.untilGot(100);
  clearInterval(count);
  t.ok(turns >= 5, `${turns} turns in 100 ms`);
});
