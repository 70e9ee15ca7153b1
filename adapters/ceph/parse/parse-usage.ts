import { z } from "zod";
import type { CephOsdUsage, CephPoolUsage } from "../adapter.ts";
import { parseReply } from "./parse-reply.ts";
import { bytes, count } from "./parse-values.ts";

const df = z.object({
  stats: z.object({ total_bytes: bytes, total_avail_bytes: bytes, total_used_bytes: bytes }),
  pools: z.array(
    z.object({
      id: count,
      stats: z.object({ stored: bytes, objects: count, bytes_used: bytes, max_avail: bytes }),
    }),
  ),
});

export interface CephDf {
  readonly totalBytes: bigint;
  readonly availableBytes: bigint;
  readonly usedBytes: bigint;
  /** Sum of all pools. */
  readonly storedBytes: bigint;
  /** Usage by pool number. */
  readonly pools: ReadonlyMap<number, CephPoolUsage>;
}

/** Parses `df detail`. @throws InfraError CEPH_FAILED that names the invalid element */
export function parseDf(text: string): CephDf {
  const { stats, pools } = parseReply("df detail", df, text);
  return {
    totalBytes: stats.total_bytes,
    availableBytes: stats.total_avail_bytes,
    usedBytes: stats.total_used_bytes,
    storedBytes: pools.reduce((sum, pool) => sum + pool.stats.stored, 0n),
    pools: new Map(
      pools.map(({ id, stats: { objects, stored, bytes_used, max_avail } }) => [
        id,
        { objectCount: objects, storedBytes: stored, usedBytes: bytes_used, availableBytes: max_avail },
      ]),
    ),
  };
}

const kibibytes = z.number().nonnegative();
const osdDf = z.object({
  nodes: z.array(z.object({ id: count, kb: kibibytes, kb_used: kibibytes, kb_avail: kibibytes, pgs: count })),
});

/** Parses `osd df`. @throws InfraError CEPH_FAILED that names the invalid element */
export function parseOsdDf(text: string): readonly CephOsdUsage[] {
  return parseReply("osd df", osdDf, text).nodes.map((node) => ({
    id: node.id,
    totalBytes: bytesFrom(node.kb),
    usedBytes: bytesFrom(node.kb_used),
    availableBytes: bytesFrom(node.kb_avail),
    pgCount: node.pgs,
  }));
}

function bytesFrom(kibibyteCount: number): bigint {
  return BigInt(Math.trunc(kibibyteCount)) * 1024n;
}
