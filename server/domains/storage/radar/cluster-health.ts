import type { CephHealthCheck } from "../../../../adapters/ceph/adapter.ts";
import { type Deduction, type Score, scoreWithout } from "./score.ts";

interface Weights {
  readonly warning: number;
  readonly error: number;
}

const weightOfOthers: Weights = { warning: 10, error: 50 };

/**
 * Points that a check deducts, by its code; docs/reference/domains/stats.md has the same table. An error deducts at least 50, so that a cluster
 * with an error is never above 50.
 */
export const healthWeights: Readonly<Record<string, Weights>> = {
  // Data is unavailable or at risk.
  PG_AVAILABILITY: { warning: 40, error: 80 },
  OBJECT_UNFOUND: { warning: 40, error: 70 },
  PG_DAMAGED: { warning: 40, error: 70 },
  OSD_FULL: { warning: 40, error: 80 },
  POOL_FULL: { warning: 30, error: 60 },
  MDS_ALL_DOWN: { warning: 30, error: 60 },
  FS_DEGRADED: { warning: 25, error: 60 },
  PG_DEGRADED: { warning: 20, error: 50 },
  OSD_BACKFILLFULL: { warning: 20, error: 50 },
  PG_BACKFILL_FULL: { warning: 20, error: 50 },
  PG_RECOVERY_FULL: { warning: 30, error: 60 },
  // Something that should be running is not.
  OSD_HOST_DOWN: { warning: 20, error: 50 },
  OSD_DOWN: { warning: 15, error: 50 },
  MON_DOWN: { warning: 15, error: 50 },
  MGR_DOWN: { warning: 15, error: 50 },
  // The cluster serves requests, but has too little space or is too slow.
  SLOW_OPS: { warning: 15, error: 50 },
  OSD_NEARFULL: { warning: 15, error: 50 },
  POOL_NEARFULL: { warning: 10, error: 50 },
  MON_CLOCK_SKEW: { warning: 10, error: 50 },
  POOL_NO_REDUNDANCY: { warning: 10, error: 50 },
  OBJECT_MISPLACED: { warning: 5, error: 50 },
  PG_NOT_SCRUBBED: { warning: 5, error: 50 },
  PG_NOT_DEEP_SCRUBBED: { warning: 5, error: 50 },
  // Not urgent.
  RECENT_CRASH: { warning: 5, error: 50 },
  RECENT_MGR_MODULE_CRASH: { warning: 5, error: 50 },
  POOL_APP_NOT_ENABLED: { warning: 2, error: 50 },
  TOO_FEW_PGS: { warning: 2, error: 50 },
  TOO_MANY_PGS: { warning: 2, error: 50 },
  POOL_TOO_FEW_PGS: { warning: 2, error: 50 },
  POOL_TOO_MANY_PGS: { warning: 2, error: 50 },
  POOL_PG_NUM_NOT_POWER_OF_TWO: { warning: 2, error: 50 },
  AUTH_INSECURE_GLOBAL_ID_RECLAIM: { warning: 2, error: 50 },
  AUTH_INSECURE_GLOBAL_ID_RECLAIM_ALLOWED: { warning: 2, error: 50 },
  TELEMETRY_CHANGED: { warning: 1, error: 50 },
};

/** Maximum for all warnings together, so that a cluster without an error is never below 51. */
export const maxWarningPoints = 49;

/** Scores the health that Ceph reports: 100, less the weight of each check that is not muted. */
export function clusterHealth(checks: readonly CephHealthCheck[]): Score {
  const counting = checks.filter(({ isMuted }) => !isMuted);
  const errors = counting
    .filter(({ severity }) => severity === "HEALTH_ERR")
    .map(({ code }): Deduction => ({ what: code, points: weightsOf(code).error }));
  const warnings = counting
    .filter(({ severity }) => severity === "HEALTH_WARN")
    .map(({ code }): Deduction => ({ what: code, points: weightsOf(code).warning }));
  return scoreWithout([...errors, ...atMost(maxWarningPoints, warnings)]);
}

function weightsOf(code: string): Weights {
  return Object.hasOwn(healthWeights, code) ? (healthWeights[code] ?? weightOfOthers) : weightOfOthers;
}

/** Limits deductions to `maxPoints` in total, heaviest first; the rest deducts nothing. */
function atMost(maxPoints: number, deductions: readonly Deduction[]): readonly Deduction[] {
  let left = maxPoints;
  return deductions
    .toSorted((a, b) => b.points - a.points)
    .map(({ what, points }) => {
      const taken = Math.min(points, left);
      left -= taken;
      return { what, points: taken };
    });
}
