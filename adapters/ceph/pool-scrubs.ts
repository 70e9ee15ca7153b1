import { z } from "zod";
import type { CephPoolScrubs } from "./adapter.ts";
import { parseReply } from "./parse/parse-reply.ts";
import { time } from "./parse/parse-values.ts";

const pgRow = z.object({
  pgid: z.string().regex(/^\d+\.[0-9a-f]+$/),
  last_scrub_stamp: time,
  last_deep_scrub_stamp: time,
});
const pgDump = z.object({ pg_stats: z.array(pgRow) });

/**
 * Parses `pg dump pgs` into the oldest scrub times of each pool.
 * @throws InfraError CEPH_FAILED that names the invalid element
 */
export function parsePoolScrubs(text: string): readonly CephPoolScrubs[] {
  const pools = new Map<number, CephPoolScrubs>();
  for (const row of parseReply("pg dump", pgDump, text).pg_stats) {
    const poolId = Number.parseInt(row.pgid, 10);
    const before = pools.get(poolId);
    pools.set(poolId, {
      poolId,
      oldestScrubAtMs: oldest(before?.oldestScrubAtMs, row.last_scrub_stamp),
      oldestDeepScrubAtMs: oldest(before?.oldestDeepScrubAtMs, row.last_deep_scrub_stamp),
    });
  }
  return [...pools.values()].toSorted((a, b) => a.poolId - b.poolId);
}

function oldest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

const poolScrubs = z.array(
  z.object({
    poolId: z.number(),
    oldestScrubAtMs: z.number().optional(),
    oldestDeepScrubAtMs: z.number().optional(),
  }),
);

/** Parses the result of `parsePoolScrubs` from the worker. @throws InfraError CEPH_FAILED */
export function readPoolScrubs(text: string): readonly CephPoolScrubs[] {
  return parseReply("pg dump", poolScrubs, text).map(({ poolId, oldestScrubAtMs, oldestDeepScrubAtMs }) => ({
    poolId,
    oldestScrubAtMs,
    oldestDeepScrubAtMs,
  }));
}
