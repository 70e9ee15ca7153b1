import { type Test, test } from "tap";
import { createClusterStates } from "../../../../../server/domains/clusters/state/cluster-states.ts";
import type { ClusterRecord } from "../../../../../server/domains/clusters/store/records.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { clusterOf, slotOf } from "../reconcile/plan/sample-cluster.ts";

/** Creates a store with clusters that counts the reads. */
function createCountingStore(names: readonly string[]) {
  const messages = new Map<string, string>();
  const { signal } = new AbortController();
  let commit = () => {};
  let reads = 0;
  let onRead = () => {};
  const run = async () => {
    reads += 1;
    onRead();
    return names.map((name): { cluster: ClusterRecord; slots: readonly object[] } => ({
      cluster: clusterOf({ name, uid: name, message: messages.get(name) ?? "" }),
      slots: [slotOf(`${name}-1`, { cluster: name })],
    }));
  };
  const store: Pick<Store, "run" | "subscribe"> = {
    run: run as unknown as Store["run"],
    subscribe(_topic, listener) {
      commit = () => listener();
      return () => {};
    },
  };
  return {
    states: createClusterStates(store, "http://maas:5240/MAAS"),
    signal,
    reads: () => reads,
    write(name: string, message: string) {
      messages.set(name, message);
      commit();
    },
    nextRead: () =>
      new Promise<void>((resolve, reject) => {
        // The timers under test do not keep the process alive.
        const end = setTimeout(() => reject(new Error("nothing was read")), 10_000);
        onRead = () => {
          clearTimeout(end);
          resolve();
        };
      }),
  };
}

test("watchers share the same objects, with new ones only for changed clusters", async (t) => {
  const { states, signal, reads, write, nextRead } = createCountingStore(["prod", "test"]);
  const leave = [states.subscribe(() => {}), states.subscribe(() => {})];
  const [one, other] = await Promise.all([states.read(signal), states.read(signal)]);
  t.equal(one, other, "converted once for both");
  t.ok(reads() <= 2);
  const read = nextRead();
  write("test", "something is new");
  await read;
  const later = await states.read(signal);
  t.equal(later.get("prod"), one.get("prod"));
  t.not(later.get("test"), one.get("test"));
  t.match([...later.values()], [{ name: "prod" }, { name: "test", statusMessage: "something is new" }]);
  for (const each of leave) {
    each();
  }
});

test("a change without visible effect wakes no watchers", async (t) => {
  const { states, signal, write, nextRead } = createCountingStore(["prod"]);
  let wakes = 0;
  const leave = states.subscribe(() => {
    wakes += 1;
  });
  await states.read(signal);
  const read = nextRead();
  write("prod", "");
  await read;
  await states.read(signal);
  t.equal(wakes, 0);
  leave();
});

async function publish(t: Test, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `c${index}`);
  const { states, signal, reads, write, nextRead } = createCountingStore(names);
  const leave = states.subscribe(() => {});
  await states.read(signal);
  const before = reads();
  const read = nextRead();
  for (const name of names) {
    write(name, "changed");
  }
  await read;
  t.equal(reads(), before + 1, "many changes cause one read");
  leave();
}

test("many clusters are read less often", async (t) => {
  const counts: number[] = [];
  await Promise.all(
    [101, 100].map(async (count) => {
      await publish(t, count);
      counts.push(count);
    }),
  );
  t.same(counts, [100, 101], "the larger number waits longer, although it has begun first");
});

test("without watchers, each read returns what was committed before it", async (t) => {
  const { states, signal, write } = createCountingStore(["prod"]);
  const before = (await states.read(signal)).get("prod");
  t.equal((await states.read(signal)).get("prod"), before);
  write("prod", "something is new");
  t.not((await states.read(signal)).get("prod"), before);
});
