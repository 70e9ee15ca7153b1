import { setTimeout as delay } from "node:timers/promises";
import { type Test, test } from "tap";
import { hasReason } from "../../../adapters/host/infra-error.ts";
import { createEvents, type Events } from "../../../server/events/events.ts";
import { storeReasons } from "../../../server/store/reasons.ts";
import { testEventContract } from "../../server/events/store/events-contract.ts";
import {
  idOf,
  newEvent,
  openStoreWithEvents,
  type StoreWithEvents,
} from "../../server/events/store-with-events.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();
const all = { topics: [], resources: [], services: undefined };
const never = new AbortController().signal;

test("PostgreSQL keeps the store's guarantees for events", { skip }, async (t) => {
  const postgres = await startPostgres(t);
  testEventContract(t, async () => ({ url: await postgres.createDatabase() }));
});

interface Replica {
  readonly store: StoreWithEvents;
  readonly events: Events;
  /** Errors that were reported to it. */
  readonly failures: unknown[];
}

async function startReplica(t: Test, url: string, pollMs = 1000): Promise<Replica> {
  const store = await openStoreWithEvents(t, { url });
  const failures: unknown[] = [];
  const recent = { maxRecords: 30, maxBytes: 1 << 20 };
  const onFailed = (error: unknown) => failures.push(error);
  const events = await createEvents({ store, keepMs: 86_400_000, pollMs, recent, onFailed });
  t.teardown(() => events.close());
  return { store, events, failures };
}

/** Collects ids as a follower receives them, from the first event on. */
function followAll({ events }: Replica): {
  readonly ids: string[];
  untilSeen(ids: ReadonlySet<string>): Promise<void>;
} {
  const ids: string[] = [];
  let wake = () => {};
  const following = (async () => {
    for await (const record of events.follow(0, all, never)) {
      ids.push(String(idOf(record)));
      wake();
    }
  })();
  return {
    ids,
    async untilSeen(expected) {
      while (ids.length < expected.size) {
        await Promise.race([following, new Promise<void>((resolve) => (wake = resolve))]);
      }
    },
  };
}

/** Appends events until it is stopped. An append with an unknown outcome may or may not be stored. */
function startWriter({ store }: Replica, name: string) {
  const written = new Set<string>();
  const unknown = new Set<string>();
  let isStopped = false;
  const writing = (async () => {
    for (let count = 1; !isStopped; count += 1) {
      const ids = Array.from({ length: 1 + (count % 3) }, (_, index) => `${name}-${count}-${index}`);
      try {
        await store.run("events.append", { events: ids.map((id) => newEvent(id)) });
        ids.forEach((id) => void written.add(id));
      } catch (error) {
        if (!hasReason(error, storeReasons.STORE_UNAVAILABLE)) {
          throw error;
        }
        ids.forEach((id) => void unknown.add(id));
        await delay(20);
      }
    }
  })();
  return {
    written,
    unknown,
    async stop() {
      isStopped = true;
      await writing;
    },
  };
}

async function storedIds({ store }: Replica): Promise<string[]> {
  const ids: string[] = [];
  let afterSeq = 0;
  for (;;) {
    const { rows } = await store.run("events.read", { afterSeq, limit: 1000 });
    if (rows.length === 0) {
      return ids;
    }
    ids.push(...rows.map(({ payload_json }) => JSON.parse(payload_json).id));
    afterSeq = rows.at(-1)?.seq ?? 0;
  }
}

test("followers of two concurrent writers see the same order without gaps, also while the database restarts", {
  skip,
  timeout: 120_000,
}, async (t) => {
  const postgres = await startPostgres(t);
  const url = await postgres.createDatabase();
  const replicas = [await startReplica(t, url), await startReplica(t, url)] as const;
  const followers = replicas.flatMap((replica) => [followAll(replica), followAll(replica)]);
  const writers = replicas.flatMap((replica, index) =>
    ["a", "b", "c"].map((name) => startWriter(replica, `${name}${index}`)),
  );
  const untilWritten = async (more: number) => {
    const expected = writers.map(({ written }) => written.size + more);
    while (writers.some(({ written }, index) => written.size < (expected[index] ?? 0))) {
      await delay(10);
    }
  };
  await untilWritten(30);
  await postgres.kill();
  const late = replicas.map(followAll);
  await delay(700);
  await postgres.start();
  await untilWritten(30);
  await postgres.stop();
  await postgres.start();
  await untilWritten(30);
  await Promise.all(writers.map(({ stop }) => stop()));

  const stored = await storedIds(replicas[0]);
  const storedSet = new Set(stored);
  t.equal(storedSet.size, stored.length, "no event is stored twice");
  const lost = writers.flatMap(({ written }) => [...written].filter((id) => !storedSet.has(id)));
  t.same(lost, [], "acknowledged events are stored");
  const maybe = new Set(writers.flatMap(({ unknown }) => [...unknown]));
  t.comment(`${stored.length} events, ${maybe.size} of unknown outcome`);
  for (const follower of [...followers, ...late]) {
    await follower.untilSeen(storedSet);
    t.same(follower.ids, stored);
  }
  for (const { failures, events } of replicas) {
    t.ok(failures.length === 1 || failures.length === 2, "each outage is reported once");
    t.match(failures[0], { reason: "STORE_UNAVAILABLE" });
    t.equal(await events.currentSeq(), events.headSeq);
  }
});

test("a gateway sees another's writes at once, and soon if the notification is lost", {
  skip,
}, async (t) => {
  const postgres = await startPostgres(t);
  const url = await postgres.createDatabase();
  const [writer, reader] = [await startReplica(t, url), await startReplica(t, url, 300)];
  const notified = await startReplica(t, url, 3_600_000);
  const next = notified.events.follow(0, all, never).next();
  const followed = reader.events.follow(0, all, never);
  await writer.store.run("events.append", { events: [newEvent("told")] });
  t.match((await next).value, { payload: { id: "told" } });
  t.match((await followed.next()).value, { payload: { id: "told" } });
  await postgres.query(
    `insert into events (at, topic, type, resource, host, services, payload_json)
     values (0, 'test', 'test.happened', 'tests/a', '', '[]', '{"id": "untold"}')`,
    url,
  );
  t.match((await followed.next()).value, { payload: { id: "untold" } });
  const cursor = writer.events.cursorOf(writer.events.headSeq + 1);
  t.equal((await reader.events.seqOf(cursor)) > 0, true, "a cursor of one gateway is valid on the other");
});

test("events are copied to PostgreSQL with the store, and cursors stay valid", { skip }, async (t) => {
  const { copyStore } = await import("../../../server/store/copy-store.ts");
  const postgres = await startPostgres(t);
  const url = await postgres.createDatabase();
  const directory = t.testdir({});
  const source = await openStoreWithEvents(t, { directory });
  const before = await createEvents({ store: source, keepMs: 86_400_000, onFailed: () => {} });
  await source.run("events.append", { events: ["a", "b", "c"].map((id) => newEvent(id)) });
  const cursor = before.cursorOf(2);
  await before.close();
  await source.close();
  await copyStore({ directory, url, kind: "real", keyCheck: "key-1" });
  const { store, events } = await startReplica(t, url);
  const followed = events.follow(await events.seqOf(cursor), all, never);
  t.match((await followed.next()).value, { seq: 3, payload: { id: "c" } });
  await store.run("events.append", { events: [newEvent("d")] });
  t.match((await followed.next()).value, { seq: 4, payload: { id: "d" } });
});
