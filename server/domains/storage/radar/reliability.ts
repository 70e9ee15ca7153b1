import type { CephMgrs, CephMons, CephPool, CephPoolScrubs } from "../../../../adapters/ceph/adapter.ts";
import { type Deduction, type Score, scoreWithout } from "./score.ts";

export interface ReliabilityInput {
  readonly pools: readonly CephPool[];
  readonly mons: CephMons;
  readonly mgrs: CephMgrs;
  readonly scrubs: readonly CephPoolScrubs[];
}

/**
 * Scores how well the cluster would survive the loss of a part. The maximum deductions add up to 100: pools 65, monitors 15,
 * managers 5, scrubs 15.
 */
export function reliability(input: ReliabilityInput, nowMs: number): Score {
  const { pools, mons, mgrs, scrubs } = input;
  return scoreWithout([
    ...weakestPool(pools),
    ...monDeductions(mons),
    ...mgrDeductions(mgrs),
    ...scrubDeductions(scrubs, nowMs),
  ]);
}

/**
 * Returns the deductions of the weakest pool. A cluster is only as reliable as that: even a small pool may hold data that
 * all others depend on.
 */
function weakestPool(pools: readonly CephPool[]): readonly Deduction[] {
  let weakest: readonly Deduction[] = [];
  for (const pool of pools) {
    const deductions = poolDeductions(pool);
    if (pointsOf(deductions) > pointsOf(weakest)) {
      weakest = deductions;
    }
  }
  return weakest;
}

function pointsOf(deductions: readonly Deduction[]): number {
  return deductions.reduce((sum, { points }) => sum + points, 0);
}

/**
 * Returns the deductions of a pool. Unknown properties count as the worst case: without a known redundancy only losses that
 * still allow writes are tolerated, and without a known failure domain copies may share a host.
 */
function poolDeductions(pool: CephPool): readonly Deduction[] {
  const { name, size, minSize, redundancy, failureDomain } = pool;
  const neededCount = redundancy === undefined ? minSize : size - redundancy;
  const placedCount = failureDomain === undefined ? size : Math.min(size, failureDomain.count);
  const toleratedCount = Math.max(0, placedCount - neededCount);
  const what = `pool/${encodeURIComponent(name)}`;
  return [
    { what: `${what} tolerates=${toleratedCount}`, points: [40, 15][toleratedCount] ?? 0 },
    {
      what: `${what} failure_domain=${failureDomain?.type ?? "unknown"}`,
      points: failureDomain === undefined || failureDomain.type === "osd" ? 10 : 0,
    },
    { what: `${what} min_size=${minSize} is too low`, points: minSize <= neededCount ? 10 : 0 },
    { what: `${what} min_size=${minSize} stops at one loss`, points: placedCount <= minSize ? 5 : 0 },
  ];
}

function monDeductions({ names, quorum }: CephMons): readonly Deduction[] {
  const majority = Math.floor(names.length / 2) + 1;
  const toleratedCount = Math.max(0, quorum.length - majority);
  return [{ what: `mons tolerate=${toleratedCount}`, points: toleratedCount === 0 ? 15 : 0 }];
}

function mgrDeductions({ standbys }: CephMgrs): readonly Deduction[] {
  return [{ what: `mgr standbys=${standbys.length}`, points: standbys.length === 0 ? 5 : 0 }];
}

const dayMs = 24 * 3_600_000;
/** Ceph scrubs and deep-scrubs each PG within a week; after four weeks without a scrub the deduction is at its maximum. */
const scrubIntervalMs = 7 * dayMs;
const scrubLostMs = 28 * dayMs;

function scrubDeductions(scrubs: readonly CephPoolScrubs[], nowMs: number): readonly Deduction[] {
  const scrub = oldestAgeMs(scrubs, ({ oldestScrubAtMs }) => oldestScrubAtMs, nowMs);
  const deep = oldestAgeMs(scrubs, ({ oldestDeepScrubAtMs }) => oldestDeepScrubAtMs, nowMs);
  return [
    { what: `scrub=${daysText(scrub)}`, points: 5 * lateness(scrub) },
    { what: `deep_scrub=${daysText(deep)}`, points: 10 * lateness(deep) },
  ];
}

/** Returns the age of the oldest scrub of all pools; infinite if a pool was never scrubbed. */
function oldestAgeMs(
  scrubs: readonly CephPoolScrubs[],
  atMsOf: (scrubs: CephPoolScrubs) => number | undefined,
  nowMs: number,
): number {
  return Math.max(0, ...scrubs.map((each) => nowMs - (atMsOf(each) ?? Number.NEGATIVE_INFINITY)));
}

function lateness(ageMs: number): number {
  return Math.min(1, Math.max(0, (ageMs - scrubIntervalMs) / (scrubLostMs - scrubIntervalMs)));
}

function daysText(ageMs: number): string {
  return Number.isFinite(ageMs) ? `${(ageMs / dayMs).toFixed(1)}d` : "never";
}
