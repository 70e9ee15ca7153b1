import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { test } from "tap";
import { createSnapshotCache } from "../../../adapters/host/snapshot.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A system whose loads end when the test completes them. */
function createSlowSystem() {
  const pending: { readonly beganAt: number; readonly settle: (fail: boolean) => void }[] = [];
  const counters = { loads: 0, running: 0, most: 0, clock: 0 };
  return {
    pending,
    counters,
    load(): Promise<number> {
      counters.loads += 1;
      counters.running += 1;
      counters.most = Math.max(counters.most, counters.running);
      counters.clock += 1;
      const beganAt = counters.clock;
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      pending.push({
        beganAt,
        settle(fail) {
          counters.running -= 1;
          if (fail) {
            reject(new Error("system down"));
          } else {
            resolve(beganAt);
          }
        },
      });
      return promise;
    },
  };
}

test("a thousand concurrent reads cost one load, and later ones none", async (t) => {
  const system = createSlowSystem();
  const cache = createSnapshotCache({ load: system.load });
  const reads = Array.from({ length: 1_000 }, () => cache.read());
  system.pending.shift()?.settle(false);
  const snapshots = await Promise.all(reads);
  t.equal(new Set(snapshots).size, 1);
  await cache.read();
  t.equal(system.counters.loads, 1);
});

test("the revision increases only when the value changes", async (t) => {
  let value = { size: 1n, tags: ["a"] };
  const cache = createSnapshotCache({ load: async () => structuredClone(value) });
  const first = await cache.read();
  cache.invalidate();
  const second = await cache.read();
  t.equal(second.revision, first.revision);
  t.equal(second.value, first.value, "the same object, so that readers may compare by identity");
  t.ok(second.readAtMs >= first.readAtMs);
  value = { size: 1n, tags: ["b"] };
  cache.invalidate();
  t.equal((await cache.read()).revision, first.revision + 1);
});

test("notifies subscribers of an unread change, of a failure once, and of its end", async (t) => {
  let answer: () => Promise<number> = async () => 1;
  const cache = createSnapshotCache({ load: () => answer(), retryMs: 20 });
  let calls = 0;
  const unsubscribe = cache.subscribe(() => {
    calls += 1;
    // The listener reads, which must not loop on a failing system.
    cache.read().catch(() => {});
  });
  cache.invalidate();
  await sleep(5);
  t.equal(calls, 0, "the first value is no change");
  cache.invalidate();
  await sleep(5);
  t.equal(calls, 0, "neither is the same value");
  answer = async () => {
    throw new Error("system down");
  };
  cache.invalidate();
  await sleep(5);
  t.equal(calls, 1, "failure");
  await t.rejects(cache.read(), { message: "system down" });
  await sleep(60);
  t.equal(calls, 1, "still the same failure");
  answer = async () => 1;
  await sleep(60);
  t.equal(calls, 2, "its end, detected by an automatic retry");
  unsubscribe();
  cache.invalidate();
  await sleep(5);
  t.equal(calls, 2);
});

test("without subscribers nothing is loaded until the next read", async (t) => {
  let loads = 0;
  const cache = createSnapshotCache({ load: async () => ++loads });
  cache.subscribe(() => {})();
  cache.invalidate();
  await sleep(5);
  t.equal(loads, 0);
});

test("a failed load is not repeated at once, except after an invalidation", async (t) => {
  let loads = 0;
  const cache = createSnapshotCache<number>({
    load: async () => {
      loads += 1;
      throw new Error(`load ${loads}`);
    },
    retryMs: 60_000,
  });
  await t.rejects(cache.read(), { message: "load 1" });
  await t.rejects(cache.read(), { message: "load 1" });
  cache.invalidate();
  await t.rejects(cache.read(), { message: "load 2" });
});

test("a recent value is returned without waiting for the next, which is being loaded", async (t) => {
  const system = createSlowSystem();
  const cache = createSnapshotCache({ load: system.load, recentMs: 60_000 });
  const first = cache.readRecent();
  system.pending[0]?.settle(false);
  t.equal((await first).value, 1, "the first is waited for");
  cache.invalidate();
  t.equal(system.counters.loads, 1, "there was no read");
  t.strictSame(
    (await Promise.all([cache.readRecent(), cache.readRecent()])).map(({ value }) => value),
    [1, 1],
  );
  t.equal(system.counters.loads, 2, "one load for both");
  const strict = cache.read();
  system.pending[1]?.settle(false);
  t.equal((await strict).value, 2);
  t.equal((await cache.readRecent()).value, 2);
  await t.rejects(cache.readRecent(AbortSignal.abort(new Error("left"))), { message: "left" });

  cache.invalidate();
  t.equal((await cache.readRecent()).value, 2);
  system.pending[2]?.settle(true);
  await turn();
  await t.rejects(
    cache.readRecent(),
    { message: "system down" },
    "a failure is not hidden by a recent value",
  );
});

test("how long a value counts as recent depends on when it became stale, not on when it was read", async (t) => {
  let nowMs = 0;
  t.intercept(performance, "now", { value: () => nowMs });
  const system = createSlowSystem();
  const cache = createSnapshotCache({ load: system.load, recentMs: 500 });
  const first = cache.readRecent();
  nowMs = 10;
  cache.invalidate();
  system.pending[0]?.settle(false);
  await first;
  nowMs = 509;
  t.equal((await cache.readRecent()).value, 1, "499 ms after a change that happened during the load");
  system.pending[1]?.settle(false);
  await turn();

  nowMs = 60_000;
  t.equal((await cache.readRecent()).value, 2, "nothing has changed");
  cache.invalidate();
  t.equal((await cache.readRecent()).value, 2, "only just stale");
  nowMs = 60_400;
  cache.invalidate();
  nowMs = 60_499;
  t.equal((await cache.readRecent()).value, 2);
  nowMs = 60_500;
  const third = cache.readRecent();
  await turn();
  system.pending[2]?.settle(false);
  await turn();
  system.pending[3]?.settle(false);
  t.equal((await third).value, 4, "500 ms after the first change");

  cache.invalidate(60_000);
  t.equal((await cache.readRecent()).value, 4, "the load began after that change");
  nowMs = 61_000;
  cache.invalidate(60_500);
  const fifth = cache.readRecent();
  await turn();
  system.pending[4]?.settle(false);
  t.equal((await fifth).value, 5, "the change is reported late");
});

type Move = "read" | "invalidate" | "complete" | "fail" | "turn";

test("in any order of reads, invalidations and loads: one load at a time, nothing stale, two loads at most", async () => {
  const moves = fc.array(fc.constantFrom<Move>("read", "invalidate", "complete", "fail", "turn"), {
    maxLength: 60,
  });
  await fc.assert(
    fc.asyncProperty(moves, fc.boolean(), async (sequence, subscribed) => {
      const system = createSlowSystem();
      const cache = createSnapshotCache({ load: system.load, retryMs: 0 });
      if (subscribed) {
        cache.subscribe(() => {});
      }
      const reads: Promise<void>[] = [];
      let invalidatedAt = 0;
      let settledReads = 0;
      const read = () => {
        const freshFrom = invalidatedAt;
        const settlesBefore = settles;
        const check = () => {
          settledReads += 1;
          if (settles - settlesBefore > 2) {
            throw new Error("waited for more than two loads");
          }
        };
        reads.push(
          cache.read().then(
            ({ value }) => {
              check();
              if (value < freshFrom) {
                throw new Error(`stale: ${value} < ${freshFrom}`);
              }
            },
            (error: Error) => {
              check();
              if (error.message !== "system down") {
                throw error;
              }
            },
          ),
        );
      };
      let settles = 0;
      const settle = async (fail: boolean) => {
        const load = system.pending.shift();
        if (load === undefined) {
          return;
        }
        settles += 1;
        load.settle(fail);
        await turn();
      };
      for (const move of sequence) {
        if (move === "read") {
          read();
        } else if (move === "invalidate") {
          system.counters.clock += 1;
          invalidatedAt = system.counters.clock;
          cache.invalidate();
        } else if (move === "turn") {
          await turn();
        } else {
          await settle(move === "fail");
        }
        if (system.counters.most > 1) {
          throw new Error("two loads at once");
        }
      }
      while (system.pending.length > 0) {
        await settle(false);
        await turn();
      }
      await Promise.all(reads);
      if (settledReads !== reads.length) {
        throw new Error("a read never ended");
      }
      cache.close();
    }),
    { numRuns: 300 },
  );
});

test("a load stops when its last reader has left, and the next reader starts another", async (t) => {
  const stops: AbortSignal[] = [];
  let loads = 0;
  const cache = createSnapshotCache({
    load: (signal) => {
      loads += 1;
      stops.push(signal);
      if (loads > 1) {
        return Promise.resolve(loads);
      }
      return new Promise<number>((_, reject) => {
        signal.addEventListener("abort", () => setImmediate(() => reject(new Error("stopped"))));
      });
    },
  });
  const leaving = [new AbortController(), new AbortController()];
  const reads = leaving.map(({ signal }) => cache.read(signal));
  leaving[0]?.abort(new Error("first left"));
  await t.rejects(async () => reads[0], { message: "first left" });
  t.notOk(stops[0]?.aborted, "the second still waits");
  leaving[1]?.abort(new Error("second left"));
  await t.rejects(async () => reads[1], { message: "second left" });
  t.ok(stops[0]?.aborted);
  t.equal(
    (await cache.read()).value,
    2,
    "a reader that arrives while it stops gets the next load, not its error",
  );
  t.equal(loads, 2);
});

test("a load continues for remaining readers and for subscribers", async (t) => {
  const system = createSlowSystem();
  let stop: AbortSignal | undefined;
  const cache = createSnapshotCache({
    load: (signal) => {
      stop = signal;
      return system.load();
    },
  });
  const leaving = new AbortController();
  const left = cache.read(leaving.signal);
  const stays = cache.read();
  leaving.abort(new Error("left"));
  await t.rejects(left, { message: "left" });
  t.notOk(stop?.aborted);
  system.pending.shift()?.settle(false);
  t.equal((await stays).value, 1);

  const end = cache.subscribe(() => {});
  cache.invalidate();
  await turn();
  t.equal(system.pending.length, 1);
  t.notOk(stop?.aborted, "a subscriber is sufficient");
  const gone = new AbortController();
  gone.abort(new Error("gone"));
  await t.rejects(cache.read(gone.signal), { message: "gone" });
  t.notOk(stop?.aborted);
  system.pending.shift()?.settle(false);
  end();
});
