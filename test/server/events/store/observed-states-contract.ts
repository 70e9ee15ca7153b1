import type { Test } from "tap";
import type { StoreOptions } from "../../../../server/store/open-store.ts";
import { openOwnStore } from "../../store/own-store.ts";
import { idOf, newEvent } from "../store-with-events.ts";

/** Tests what every store guarantees for the published states of systems. */
export function testObservedStateContract(
  t: Test,
  makeOptions: (t: Test) => Promise<Partial<StoreOptions>>,
): void {
  t.test("a state is stored once, together with the events that lead to it", async (t) => {
    const store = await openOwnStore(t, await makeOptions(t));
    const read = async () => (await store.run("observed.read", { source: "lvm/a" })).observed;
    const reported = async () =>
      (await store.run("events.read", { afterSeq: 0, limit: 10 })).rows.map(({ payload_json }) =>
        idOf({ payload: JSON.parse(payload_json) }),
      );
    t.equal(await read(), undefined);
    const write = (version: number, state: unknown, id: number) =>
      store.run("observed.write", { source: "lvm/a", version, state, events: [newEvent(id)] });

    t.match(await write(0, { volumes: ["\0 ü"] }, 1), { ok: true, version: 1 });
    t.match(await read(), { version: 1, state: { volumes: ["\0 ü"] } });
    t.match(await write(0, "late", 2), { ok: false, current: { version: 1, state: { volumes: ["\0 ü"] } } });
    t.match(await write(5, "early", 3), { ok: false, current: { version: 1 } });
    t.match(await write(1, [1], 4), { ok: true, version: 2 });
    t.match(await read(), { version: 2, state: [1] });
    t.strictSame(await reported(), [1, 4], "a write that lost the race has published nothing");
    t.match(await store.run("observed.write", { source: "lvm/b", version: 0, state: null, events: [] }), {
      ok: true,
      version: 1,
    });
  });

  t.test("of concurrent writes, one succeeds", async (t) => {
    const options = await makeOptions(t);
    const store = await openOwnStore(t, options);
    for (const version of [0, 1, 2]) {
      const results = await Promise.all(
        Array.from({ length: 5 }, (_, id) =>
          store.run("observed.write", { source: "lvm/a", version, state: id, events: [newEvent(id)] }),
        ),
      );
      t.equal(results.filter(({ ok }) => ok).length, 1);
    }
    t.equal((await store.run("events.read", { afterSeq: 0, limit: 10 })).rows.length, 3);
  });

  t.test("only the stored state can be confirmed", async (t) => {
    const store = await openOwnStore(t, await makeOptions(t));
    const at = async () =>
      (await store.run("observed.read", { source: "lvm/a" })).observed?.observedAtMs ?? 0;
    await store.run("observed.write", { source: "lvm/a", version: 0, state: 1, events: [] });
    const first = await at();
    while (Date.now() <= first + 1) {
      await new Promise(setImmediate);
    }
    await store.run("observed.confirm", { source: "lvm/a", version: 2 });
    t.equal(await at(), first);
    await store.run("observed.confirm", { source: "lvm/a", version: 1 });
    t.ok((await at()) > first);
  });
}
