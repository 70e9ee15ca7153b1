import { test } from "tap";
import { holdLease } from "../../../../../server/domains/clusters/reconcile/pass-lease.ts";

const answered = async () => ({ ok: true });

function clocksAt(start: number) {
  let [monotonicMs, wallMs] = [start, 1_000_000];
  return {
    monotonicMs: () => monotonicMs,
    wallMs: () => wallMs,
    pass(ms: number) {
      monotonicMs += ms;
      wallMs += ms;
    },
    /** Simulates a suspended machine. */
    sleep(ms: number) {
      wallMs += ms;
    },
  };
}

test("a lease ends when its time is up, and stays ended", async (t) => {
  const clocks = clocksAt(500);
  // Requested 100 ms ago.
  const lease = holdLease(answered, 30_000, 400, clocks);
  t.ok(lease.isHeld());
  clocks.pass(29_899);
  lease.assertHeld();
  clocks.pass(1);
  t.throws(() => lease.assertHeld(), { message: "another gateway may be working on the cluster by now" });
  clocks.pass(-10_000);
  t.notOk(lease.isHeld());
  lease.drop();
});

test("a lease has ended after the machine was suspended, although the monotonic clock stood still", async (t) => {
  const clocks = clocksAt(0);
  const lease = holdLease(answered, 30_000, 0, clocks);
  clocks.sleep(30_000);
  t.notOk(lease.isHeld());
  lease.drop();
});

test("a lease is kept by renewing it, also after the store did not respond", async (t) => {
  const clocks = clocksAt(0);
  const requested = Promise.withResolvers<void>();
  let count = 0;
  const renew = async () => {
    count += 1;
    if (count === 2) {
      throw new Error("no answer");
    }
    if (count === 4) {
      requested.resolve();
    }
    return { ok: true };
  };
  const lease = holdLease(renew, 60, 0, clocks);
  clocks.pass(40);
  // The lease's timer does not keep the process alive.
  const alive = setInterval(() => {}, 50);
  await requested.promise;
  clearInterval(alive);
  clocks.pass(40);
  t.ok(lease.isHeld());
  lease.drop();
});

test("a lease that the store no longer knows ends", async (t) => {
  const requested = Promise.withResolvers<{ ok: boolean }>();
  const lease = holdLease(() => requested.promise, 3_000_000, performance.now());
  const short = holdLease(async () => ({ ok: false }), 30, performance.now());
  const endMs = performance.now() + 5_000;
  while (short.isHeld() && performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  t.notOk(short.isHeld());
  t.ok(lease.isHeld());
  lease.lose();
  t.notOk(lease.isHeld());
});
