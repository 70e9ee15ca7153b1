import type { CephCrash } from "../../../../adapters/ceph/adapter.ts";
import { type Score, scoreWithout } from "./score.ts";
import type { SeenHour } from "./stability-history.ts";

const hourMs = 3_600_000;

/** Scores how quiet the last hour was. The maximum deductions add up to 100, so only all of them together give 0. */
export function stability(hour: SeenHour, crashes: readonly CephCrash[], nowMs: number): Score {
  const { flapCount, slowOperationPeak, recoveringSharePeak, sinceMs } = hour;
  // Includes archived crashes, since archiving does not undo a crash. Clocks of hosts may be ahead.
  const crashCount = crashes.filter(({ atMs }) => nowMs - atMs <= hourMs).length;
  const score = scoreWithout([
    { what: `flaps=${flapCount}`, points: Math.min(30, 10 * flapCount) },
    { what: `crashes=${crashCount}`, points: Math.min(30, 10 * crashCount) },
    { what: `slow_operations=${slowOperationPeak}`, points: Math.min(20, slowOperationPeak) },
    {
      what: `recovering=${(100 * recoveringSharePeak).toFixed(1)}%`,
      points: 20 * Math.min(1, recoveringSharePeak),
    },
  ]);
  return { ...score, because: [...score.because, `seen since ${new Date(sinceMs).toISOString()}`] };
}
