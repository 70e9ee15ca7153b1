import { test } from "tap";
import type { CephOsd, CephSnapshot, CephState } from "../../../../../adapters/ceph/adapter.ts";
import { sandboxState } from "../../../../../adapters/ceph/sandbox-cluster.ts";
import { createStabilityHistory } from "../../../../../server/domains/storage/radar/stability-history.ts";

const minuteMs = 60_000;

/** Returns a snapshot that was read some minutes ago. */
function readingOf(minutesAgo: number, change: Partial<CephState> = {}, staleBecause?: string): CephSnapshot {
  const readAtMs = performance.now() - minutesAgo * minuteMs;
  return { value: { ...sandboxState(0), ...change }, revision: 1, readAtMs, staleBecause };
}

function osdsWith(change: (osd: CephOsd) => Partial<CephOsd>): Pick<CephState, "osds"> {
  const { osds } = sandboxState(0);
  if ("missing" in osds) {
    throw new TypeError("the sandbox has OSDs");
  }
  return { osds: { ok: { ...osds.ok, osds: osds.ok.osds.map((osd) => ({ ...osd, ...change(osd) })) } } };
}

const downAt = (epoch: number) => osdsWith(({ id }) => (id === 3 ? { downAtEpoch: epoch } : {}));
const states = (...rows: readonly (readonly [state: string, count: number])[]): Pick<CephState, "pgs"> => ({
  pgs: {
    ok: {
      count: rows.reduce((sum, [, count]) => sum + count, 0),
      states: rows.map(([state, count]) => ({ state, count })),
    },
  },
});

test("an OSD that was down between two reads is detected by its epoch", async (t) => {
  const history = createStabilityHistory();
  history.note(readingOf(10, downAt(5)));
  t.equal(history.lastHour(Date.now()).flapCount, 0, "what happened before the first read does not count");
  history.note(readingOf(9, downAt(21)));
  history.note(readingOf(8, downAt(21)));
  history.note(readingOf(7, downAt(25)));
  t.equal(history.lastHour(Date.now()).flapCount, 2);
});

test("a new OSD, or one re-created under an old id, has not gone down", async (t) => {
  const history = createStabilityHistory();
  history.note(readingOf(3, downAt(30)));
  history.note(readingOf(2, downAt(0)));
  history.note(
    readingOf(
      1,
      osdsWith(({ id }) => ({ id: id + 10, downAtEpoch: 40 })),
    ),
  );
  t.equal(history.lastHour(Date.now()).flapCount, 0);
});

test("flaps during an outage are counted afterwards, by their epochs", async (t) => {
  const history = createStabilityHistory();
  history.note(readingOf(20, downAt(5)));
  history.note(readingOf(15, downAt(5), "the monitors are away"));
  history.note(readingOf(2, { osds: { missing: "not yet" } }));
  history.note(readingOf(1, downAt(50)));
  t.equal(history.lastHour(Date.now()).flapCount, 1);
});

test("the peak of the last hour is reported until the hour is over", async (t) => {
  const history = createStabilityHistory();
  history.note(readingOf(100, { slowOperationCount: 9 }));
  history.note(readingOf(90, { slowOperationCount: 7 }));
  history.note(readingOf(50, { slowOperationCount: 0 }));
  t.equal(history.lastHour(Date.now()).slowOperationPeak, 7, "it lasts until a read shows its end");
  history.note(readingOf(40, { slowOperationCount: 3 }));
  history.note(readingOf(30, { slowOperationCount: 0 }));
  t.equal(history.lastHour(Date.now() + 15 * minuteMs).slowOperationPeak, 3);
  t.equal(history.lastHour(Date.now() + 40 * minuteMs).slowOperationPeak, 0);
});

test("values from before an outage do not count during the outage", async (t) => {
  const history = createStabilityHistory();
  history.note(readingOf(90, { slowOperationCount: 7 }));
  history.note(readingOf(89, { slowOperationCount: 7 }, "the monitors are away"));
  history.note(readingOf(10));
  t.equal(history.lastHour(Date.now()).slowOperationPeak, 0);
});

test("PGs that recover, wait for recovery or lack the space for it are counted", async (t) => {
  const history = createStabilityHistory();
  const busy = states(
    ["active+clean", 60],
    ["active+recovering+degraded", 10],
    ["active+undersized+degraded+remapped+backfill_wait", 20],
    ["active+recovery_toofull", 5],
    ["active+undersized+degraded", 5],
  );
  history.note(readingOf(5, busy));
  history.note(readingOf(4));
  t.equal(history.lastHour(Date.now()).recoveringSharePeak, 0.35);
  history.note(readingOf(3, { pgs: { missing: "no manager is active" } }));
  history.note(readingOf(2, states()));
  t.equal(history.lastHour(Date.now()).recoveringSharePeak, 0.35, "missing or absent PGs have no share");
});

test("the start is at most an hour ago; another cluster starts over", async (t) => {
  const history = createStabilityHistory();
  history.note(readingOf(5, downAt(5)));
  history.note(readingOf(4, downAt(7)));
  const { sinceMs, flapCount } = history.lastHour(Date.now());
  t.ok(Math.abs(Date.now() - 5 * minuteMs - sinceMs) < 1_000);
  t.equal(flapCount, 1);
  const later = Date.now() + 90 * minuteMs;
  const hour = history.lastHour(later);
  t.ok(later - hour.sinceMs >= 60 * minuteMs && later - hour.sinceMs <= 61 * minuteMs);
  history.note(readingOf(1, { fsid: "another", ...downAt(9) }));
  t.match(history.lastHour(Date.now()), { flapCount: 0 });
  t.ok(Date.now() - history.lastHour(Date.now()).sinceMs < 2 * minuteMs);
});
