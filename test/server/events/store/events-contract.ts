import type { Test } from "tap";
import type { StoreOptions } from "../../../../server/store/open-store.ts";
import { appendEach, newEvent, openStoreWithEvents, range } from "../store-with-events.ts";

const dayMs = 86_400_000;

/** Tests what every store guarantees for its events. */
export function testEventContract(t: Test, makeOptions: (t: Test) => Promise<Partial<StoreOptions>>): void {
  const open = async (t: Test) => openStoreWithEvents(t, await makeOptions(t));

  t.test("events are read in order and unchanged", async (t) => {
    const store = await open(t);
    t.match(await store.run("events.head", undefined), { epoch: /^[\da-f-]{36}$/, goneSeq: 0, headSeq: 0 });
    let calls = 0;
    store.subscribe("events", () => {
      calls += 1;
    });
    const facts = { host: "h1", operationId: "op-1", payload: { text: "\0 ü 'x'", list: [1, null] } };
    await store.run("events.append", { events: [newEvent(1, facts), newEvent(2)] });
    t.equal(calls, 1, "one notification per commit");
    const { rows, goneSeq } = await store.run("events.read", { afterSeq: 0, limit: 10 });
    t.equal(goneSeq, 0);
    t.match(rows, [
      {
        topic: "test",
        type: "test.happened",
        resource: "tests/a",
        host: "h1",
        operation_id: "op-1",
        services: '["proto.VGService"]',
        payload_json: JSON.stringify(facts.payload),
      },
      { operation_id: null, payload_json: '{"id":2}' },
    ]);
    const [first, second] = rows.map(({ seq }) => seq) as [number, number];
    t.ok(second > first);
    t.ok(Math.abs(Date.now() - (rows[0]?.at ?? 0)) < 60_000);
    t.equal((await store.run("events.head", undefined)).headSeq, second);
    t.same((await store.run("events.read", { afterSeq: first, limit: 10 })).rows, rows.slice(1));
    t.same(
      (await store.run("events.read", { afterSeq: 0, upToSeq: first, limit: 10 })).rows,
      rows.slice(0, 1),
    );
    t.same((await store.run("events.read", { afterSeq: 0, limit: 1 })).rows, rows.slice(0, 1));
  });

  t.test("events of one operation can be read separately", async (t) => {
    const store = await open(t);
    await appendEach(store, [1, 2]);
    await appendEach(store, [3, 4, 5], { operationId: "op-1" });
    await appendEach(store, [6], { operationId: "op-2" });
    const read = async (args: object) =>
      (await store.run("events.read", { afterSeq: 0, limit: 10, operationId: "op-1", ...args })).rows;
    const rows = await read({});
    t.same(
      rows.map(({ operation_id }) => operation_id),
      ["op-1", "op-1", "op-1"],
    );
    const [first = 0, second = 0] = rows.map(({ seq }) => seq);
    t.same(await read({ limit: 2 }), rows.slice(0, 2));
    t.same(await read({ afterSeq: first, upToSeq: second }), rows.slice(1, 2));
    t.same(await read({ operationId: "op-3" }), []);
  });

  t.test("appending no events writes nothing and notifies no subscriber", async (t) => {
    const store = await open(t);
    store.subscribe("events", () => t.fail("called"));
    await store.run("events.append", { events: [] });
    t.equal((await store.run("events.head", undefined)).headSeq, 0);
  });

  t.test("the oldest events are purged, and their numbers are known", async (t) => {
    const store = await open(t);
    const nowMs = Date.now();
    await store.run("test.appendAt", { times: range(1, 5).map((day) => nowMs - (9.5 - day) * dayMs) });
    await appendEach(store, [6, 7]);
    const seqs = (await store.run("events.read", { afterSeq: 0, limit: 10 })).rows.map(({ seq }) => seq);
    const purge = (limit: number) => store.run("events.purge", { keepMs: 7 * dayMs, limit });
    t.same(await purge(1), { count: 1 });
    t.same(await purge(10), { count: 1 });
    t.same(await purge(10), { count: 0 });
    const left = await store.run("events.read", { afterSeq: 0, limit: 10 });
    t.equal(left.goneSeq, seqs[1]);
    t.same(
      left.rows.map(({ seq }) => seq),
      seqs.slice(2),
    );
    t.same(await store.run("events.purge", { keepMs: -dayMs, limit: 10 }), { count: 5 });
    t.match(await store.run("events.head", undefined), { goneSeq: seqs.at(-1), headSeq: seqs.at(-1) });
    await appendEach(store, [8]);
    const { headSeq } = await store.run("events.head", undefined);
    t.ok(headSeq > (seqs.at(-1) ?? 0), "no number is assigned twice");
  });

  t.test("events after one that is kept are kept too, whatever their time", async (t) => {
    const store = await open(t);
    const nowMs = Date.now();
    await store.run("test.appendAt", { times: [nowMs - 9 * dayMs, nowMs, nowMs - 9 * dayMs] });
    t.same(await store.run("events.purge", { keepMs: 7 * dayMs, limit: 10 }), { count: 1 });
    t.equal((await store.run("events.read", { afterSeq: 0, limit: 10 })).rows.length, 2);
  });

  t.test("an event dated far in the future by a wrong clock does not block the purge", async (t) => {
    const store = await open(t);
    const nowMs = Date.now();
    const times = [nowMs + 400 * dayMs, nowMs - 9 * dayMs, nowMs + dayMs, nowMs];
    await store.run("test.appendAt", { times });
    t.same(await store.run("events.purge", { keepMs: 7 * dayMs, limit: 10 }), { count: 2 });
    t.equal((await store.run("events.read", { afterSeq: 0, limit: 10 })).rows.length, 2);
    t.match(await store.run("events.atTime", { atMs: nowMs - dayMs }), { isKept: true });
  });

  t.test("a time maps to a position", async (t) => {
    const store = await open(t);
    const place = (atMs: number) => store.run("events.atTime", { atMs });
    t.same(await place(0), { isKept: true, seq: 0 }, "of no events");
    // The third was written after the second, by a transaction that had begun before it.
    await store.run("test.appendAt", { times: [1000, 3000, 2000, 3000, 200_000] });
    const seqs = (await store.run("events.read", { afterSeq: 0, limit: 10 })).rows.map(({ seq }) => seq);
    const before = (index: number) => ({ isKept: true, seq: (seqs[index] ?? 0) - 1 });
    t.same(await place(0), before(0));
    t.same(await place(1000), before(0));
    t.same(
      await place(1001),
      before(1),
      "the first event at or after it, not the one with the smallest time",
    );
    t.same(await place(3000), before(1));
    t.same(await place(3001), before(4));
    t.same(await place(200_001), { isKept: true, seq: seqs[4] }, "there is none yet");
    await store.run("events.purge", { keepMs: 0, limit: 4 });
    t.same(await place(3000), { isKept: false, goneSeq: seqs[3] });
    t.same(await place(3001), before(4));
    await store.run("events.purge", { keepMs: 0, limit: 4 });
    t.same(await place(200_000), { isKept: false, goneSeq: seqs[4] });
    t.same(await place(200_001), { isKept: true, seq: seqs[4] });
  });

  t.test("concurrently written events are read in one order, without gaps", async (t) => {
    const store = await open(t);
    const ids = range(1, 60);
    const writing = appendEach(store, ids);
    const seen: number[] = [];
    let afterSeq = 0;
    while (seen.length < ids.length) {
      const { rows } = await store.run("events.read", { afterSeq, limit: 7 });
      seen.push(...rows.map(({ payload_json }) => JSON.parse(payload_json).id));
      afterSeq = rows.at(-1)?.seq ?? afterSeq;
    }
    await writing;
    t.same(
      seen.toSorted((a, b) => a - b),
      ids,
    );
  });
}
