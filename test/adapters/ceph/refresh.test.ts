import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import { cephReasons } from "../../../adapters/ceph/reasons.ts";
import { createRefresh, type RefreshOptions } from "../../../adapters/ceph/refresh.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { reasonOf } from "../host/reason-of.ts";

const outage = new InfraError(cephReasons.CEPH_UNAVAILABLE, "away");
const hour = 3_600_000;

/** Creates a refresh of a number that counts its loads, which fail or wait as controlled. */
function refreshOf(t: Test, options: Partial<RefreshOptions<number>> = {}) {
  const control = { loads: 0, isAway: false, gate: Promise.resolve() };
  const refresh = createRefresh({
    system: "test",
    async load() {
      control.loads += 1;
      const loaded = control.loads;
      await control.gate;
      if (control.isAway) {
        throw outage;
      }
      return loaded;
    },
    watchedMs: hour,
    idleMs: hour,
    keepMs: hour,
    ...options,
  });
  // The refresh's timers do not keep the process alive.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => {
    clearInterval(alive);
    refresh.close();
  });
  return { refresh, control };
}

test("a thousand readers cost one load", async (t) => {
  const { refresh, control } = refreshOf(t);
  const read = await Promise.all(Array.from({ length: 1_000 }, () => refresh.read()));
  t.ok(read.every(({ value }) => value === 1));
  await refresh.read();
  t.equal(control.loads, 1);
});

test("with a subscriber, loads at the configured interval and reports each change", async (t) => {
  const { refresh, control } = refreshOf(t, { watchedMs: 5 });
  await refresh.read();
  const { promise, resolve } = Promise.withResolvers<void>();
  let notifications = 0;
  const unsubscribe = refresh.subscribe(() => {
    notifications += 1;
    if (notifications === 3) {
      resolve();
    }
  });
  await promise;
  t.ok(control.loads >= 4);
  unsubscribe();
});

test("loads less often without a watching reader", async (t) => {
  const { refresh, control } = refreshOf(t, { watchedMs: 1, idleMs: hour });
  const unsubscribe = refresh.subscribe(() => {});
  await refresh.renew();
  unsubscribe();
  const before = control.loads;
  await sleep(50);
  t.ok(control.loads <= before + 1);
});

test("a reader that does not watch is notified of each load, but triggers none", async (t) => {
  const { refresh, control } = refreshOf(t, { watchedMs: 1 });
  const passive = { isWatching: false };
  let notifications = 0;
  refresh.subscribe(() => {
    notifications += 1;
  }, passive);
  t.equal((await refresh.read(undefined, passive)).value, 1, "only the first");
  await sleep(30);
  t.equal((await refresh.read(undefined, passive)).value, 1, "however old");
  t.equal(control.loads, 1);
  await refresh.renew();
  t.equal(notifications, 1);
});

test("a failure is reported once, and the last value is returned until it is too old", async (t) => {
  let nowMs = 0;
  t.intercept(performance, "now", { value: () => nowMs });
  const { refresh, control } = refreshOf(t, { keepMs: 300 });
  await refresh.read();
  let notifications = 0;
  refresh.subscribe(() => {
    notifications += 1;
  });
  control.isAway = true;
  await refresh.renew();
  await refresh.renew();
  t.equal(notifications, 1);
  t.match(await refresh.read(), { value: 1, revision: 1, staleBecause: "away" });
  nowMs = 301;
  t.equal(await reasonOf(refresh.read()), "CEPH_UNAVAILABLE");
  control.isAway = false;
  await refresh.renew();
  t.equal(notifications, 2, "and the end of the failure");
  t.match(await refresh.read(), { revision: 2, staleBecause: undefined });
});

test("a reader whose signal is aborted does not wait for a hanging load", async (t) => {
  const { refresh, control } = refreshOf(t);
  control.gate = new Promise(() => {});
  const leaving = new AbortController();
  const reading = refresh.read(leaving.signal);
  leaving.abort(outage);
  await t.rejects(reading, outage);
});

test("a hanging load does not keep readers from the present value", async (t) => {
  const { refresh, control } = refreshOf(t, { watchedMs: 1 });
  await refresh.read();
  control.gate = new Promise(() => {});
  await sleep(20);
  t.equal((await refresh.read()).value, 1);
});

test("a renewal waits for a load that began after the call", async (t) => {
  const { refresh, control } = refreshOf(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  control.gate = promise;
  const reading = refresh.read();
  const renewal = refresh.renew();
  resolve();
  t.equal((await reading).value, 1);
  await renewal;
  t.equal((await refresh.read()).value, 2);
});
