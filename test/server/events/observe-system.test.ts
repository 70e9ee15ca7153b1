import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import { observeSystem, type SystemObserver } from "../../../server/events/observe-system.ts";
import type { Store } from "../../../server/store/store.ts";
import { openOwnStore } from "../store/own-store.ts";

const source = "counter/alpha";

/** Creates a system whose state is a number, and which may be unreachable. */
function createCounter() {
  const listeners = new Set<() => void>();
  let value = 0;
  let failure: Error | undefined;
  let revision = 0;
  let requestCount = 0;
  const changed = () => {
    for (const listener of [...listeners]) {
      listener();
    }
  };
  return {
    set(next: number) {
      value = next;
      changed();
    },
    fail(error: Error | undefined) {
      failure = error;
      changed();
    },
    /** Makes it stop answering without a notification. Resolves after this many further reads. */
    async fallSilent(questions: number) {
      failure = new Error("it is silent");
      const from = requestCount;
      await until(() => requestCount >= from + questions);
    },
    subscribe(onChange: () => void) {
      listeners.add(onChange);
      return () => void listeners.delete(onChange);
    },
    async read(): Promise<Snapshot<number>> {
      requestCount += 1;
      if (failure !== undefined) {
        throw failure;
      }
      revision += 1;
      return { value, revision, readAtMs: performance.now() };
    },
  };
}

interface Observation {
  readonly observer: SystemObserver;
  readonly failures: readonly string[];
}

const origin = { topic: "test", resource: "counters/a", host: "alpha", services: [] };

/** Publishes changes such as `0 -> 1`; with `isLossReported`, an unreachable system counts as -1. */
function observeCounter(
  t: Test,
  counter: ReturnType<typeof createCounter>,
  store: Pick<Store, "run">,
  { isLossReported = false, confirmMs = 60_000 } = {},
): Observation {
  const failures: string[] = [];
  const changesFrom = (before: number | undefined, now: number) => ({
    observed: now,
    events:
      before === undefined || before === now
        ? []
        : [{ ...origin, type: "counted", payload: { before, now } }],
  });
  const observer = observeSystem<number, number>(
    {
      source,
      name: "the counter",
      subscribe: counter.subscribe,
      read: counter.read,
      parse: (json) => (typeof json === "number" ? json : undefined),
      changes: changesFrom,
      ...(isLossReported
        ? { changesWhenUnreadable: (before) => (before === undefined ? undefined : changesFrom(before, -1)) }
        : {}),
      gapOrigin: origin,
    },
    { store, onFailed: (error) => failures.push(String(error)), retryMs: 20, confirmMs },
  );
  t.teardown(() => observer.close());
  return { observer, failures };
}

/** Returns the published changes in order: `0 -> 1` or `gap`. */
async function publishedBy(store: Pick<Store, "run">): Promise<string[]> {
  const { rows } = await store.run("events.read", { afterSeq: 0, limit: 1000 });
  return rows.map(({ type, payload_json }) => {
    const { before, now } = JSON.parse(payload_json) as { readonly before?: number; readonly now?: number };
    return type === "gap" ? "gap" : `${before} -> ${now}`;
  });
}

/** Returns the only gap that was published. */
async function gapIn(
  store: Pick<Store, "run">,
): Promise<{ readonly fromMs: number; readonly reason: string }> {
  const { rows } = await store.run("events.read", { afterSeq: 0, limit: 1000 });
  const [row] = rows.filter(({ type }) => type === "gap");
  const { gap } = JSON.parse(row?.payload_json ?? "") as { readonly gap: { from: string; reason: string } };
  return { fromMs: Date.parse(gap.from), reason: gap.reason };
}

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (const endsAtMs = performance.now() + 10_000; !(await isSo()); ) {
    if (performance.now() > endsAtMs) {
      throw new Error("it has not come about");
    }
    await sleep(2);
  }
}

const observedBy = async (store: Pick<Store, "run">) =>
  (await store.run("observed.read", { source })).observed;

test("each change is published once, also when two observers see it", async (t) => {
  const store = await openOwnStore(t);
  const counter = createCounter();
  const first = observeCounter(t, counter, store);
  await until(async () => (await observedBy(store))?.state === 0);
  const second = observeCounter(t, counter, store);
  await until(async () => (await publishedBy(store)).length === 1);
  for (const value of [1, 2, 3]) {
    counter.set(value);
    await until(async () => (await observedBy(store))?.state === value);
  }
  await Promise.all([first.observer.close(), second.observer.close()]);
  t.strictSame(await publishedBy(store), ["gap", "0 -> 1", "1 -> 2", "2 -> 3"]);
  t.strictSame([...first.failures, ...second.failures], []);
});

test("a change without an observer is published with a gap that begins at the last read", async (t) => {
  const store = await openOwnStore(t);
  const counter = createCounter();
  await observeCounter(t, counter, store).observer.close();
  const seenAtMs = (await observedBy(store))?.observedAtMs ?? 0;
  counter.set(5);
  const { observer } = observeCounter(t, counter, store);
  await until(async () => (await observedBy(store))?.state === 5);
  await observer.close();
  t.strictSame(await publishedBy(store), ["0 -> 5", "gap"]);
  t.match(await gapIn(store), { fromMs: seenAtMs, reason: /started to observe the counter/ });
});

test("a system that is unreachable at the start of the observation does not shorten the gap", async (t) => {
  const store = await openOwnStore(t);
  const counter = createCounter();
  await observeCounter(t, counter, store).observer.close();
  const seenAtMs = (await observedBy(store))?.observedAtMs ?? 0;
  await sleep(5);
  counter.fail(new Error("it is away"));
  const { observer, failures } = observeCounter(t, counter, store, { isLossReported: true });
  await until(async () => (await observedBy(store))?.state === -1);
  // Failed retries are neither published nor logged again.
  await sleep(60);
  counter.set(7);
  counter.fail(undefined);
  await until(async () => (await observedBy(store))?.state === 7);
  await observer.close();
  t.strictSame(await publishedBy(store), ["0 -> -1", "-1 -> 7", "gap"]);
  t.match(await gapIn(store), { fromMs: seenAtMs, reason: "the counter could not be read: it is away" });
  t.strictSame(failures, ["Error: it is away"]);
});

test("a gap begins at the last read of the system, not when its loss was noted", async (t) => {
  const store = await openOwnStore(t);
  const counter = createCounter();
  const { observer } = observeCounter(t, counter, store, { isLossReported: true });
  await until(async () => (await observedBy(store))?.state === 0);
  const seenAtMs = (await observedBy(store))?.observedAtMs ?? 0;
  await sleep(5);
  counter.fail(new Error("it is away"));
  await until(async () => (await observedBy(store))?.state === -1);
  counter.fail(undefined);
  await until(async () => (await observedBy(store))?.state === 0);
  await observer.close();
  t.strictSame(await publishedBy(store), ["0 -> -1", "-1 -> 0", "gap"]);
  t.match(await gapIn(store), { fromMs: seenAtMs, reason: "the counter could not be read: it is away" });
});

test("the state of a system that stopped answering is not confirmed", async (t) => {
  const store = await openOwnStore(t);
  const counter = createCounter();
  const { observer } = observeCounter(t, counter, store, { confirmMs: 5 });
  await until(async () => (await observedBy(store)) !== undefined);
  await counter.fallSilent(1);
  const last = await observedBy(store);
  await counter.fallSilent(5);
  t.strictSame(await observedBy(store), last);
  counter.fail(undefined);
  await observer.close();
});

test("a failing store is retried, and nothing is lost", async (t) => {
  const real = await openOwnStore(t);
  let isBroken = false;
  const store: Pick<Store, "run"> = {
    run: (name, args) => (isBroken ? Promise.reject(new Error("the store is away")) : real.run(name, args)),
  };
  const counter = createCounter();
  const { observer, failures } = observeCounter(t, counter, store);
  await until(async () => (await observedBy(real))?.state === 0);
  isBroken = true;
  counter.set(1);
  await until(() => failures.length === 1);
  counter.set(2);
  isBroken = false;
  await until(async () => (await observedBy(real))?.state === 2);
  await observer.close();
  t.strictSame(await publishedBy(real), ["0 -> 2"]);
  t.strictSame(failures, ["Error: the store is away"]);
});

test("an unchanged state is confirmed, and close publishes the last change", async (t) => {
  const store = await openOwnStore(t);
  const counter = createCounter();
  const { observer } = observeCounter(t, counter, store, { confirmMs: 10 });
  await until(async () => (await observedBy(store)) !== undefined);
  const first = await observedBy(store);
  await until(async () => ((await observedBy(store))?.observedAtMs ?? 0) > (first?.observedAtMs ?? 0));
  t.equal((await observedBy(store))?.version, first?.version);
  counter.set(1);
  await observer.close();
  counter.set(2);
  t.strictSame(await publishedBy(store), ["0 -> 1"]);
});
