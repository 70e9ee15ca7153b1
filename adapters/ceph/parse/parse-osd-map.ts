import { z } from "zod";
import type { CephOsds, CephPool } from "../adapter.ts";
import { type CrushRule, type CrushTree, countFailureDomains, hostsOfOsds } from "./parse-crush.ts";
import { parseReply } from "./parse-reply.ts";
import type { CephDf } from "./parse-usage.ts";
import { bytes, count, ratio, time } from "./parse-values.ts";

const osdDump = z.object({
  epoch: count,
  last_up_change: time,
  last_in_change: time,
  nearfull_ratio: ratio,
  full_ratio: ratio,
  osds: z.array(
    z.object({
      osd: count,
      up: z.number(),
      in: z.number(),
      weight: ratio,
      up_from: count,
      down_at: count,
    }),
  ),
  pools: z.array(
    z.object({
      pool: count,
      pool_name: z.string(),
      type: z.number().int(),
      size: count,
      min_size: count,
      crush_rule: z.number().int(),
      pg_num: count,
      quota_max_bytes: bytes,
      quota_max_objects: count,
      erasure_code_profile: z.string().default(""),
      application_metadata: z.record(z.string(), z.unknown()).default({}),
    }),
  ),
  erasure_code_profiles: z.record(z.string(), z.object({ m: z.string().optional() })).default({}),
});

export type OsdMap = z.output<typeof osdDump>;

/** Parses `osd dump`. @throws InfraError CEPH_FAILED that names the invalid element */
export function parseOsdDump(text: string): OsdMap {
  return parseReply("osd dump", osdDump, text);
}

/** Builds the OSDs. @param nodes the CRUSH tree, for the host and the device class of each OSD */
export function osdsFromMap(map: OsdMap, nodes: CrushTree): CephOsds {
  const hosts = hostsOfOsds(nodes);
  return {
    mapEpoch: map.epoch,
    osds: map.osds.map((row) => ({
      id: row.osd,
      isUp: row.up === 1,
      isIn: row.in === 1,
      host: hosts.get(row.osd),
      deviceClass: nodes.get(row.osd)?.deviceClass,
      reweight: row.weight,
      upFromEpoch: row.up_from,
      downAtEpoch: row.down_at,
    })),
    upChangedAtMs: map.last_up_change,
    inChangedAtMs: map.last_in_change,
    nearFullRatio: map.nearfull_ratio,
    fullRatio: map.full_ratio,
  };
}

/** Builds the pools. @param df undefined while there are no statistics */
export function poolsFromMap(
  map: OsdMap,
  nodes: CrushTree,
  rules: ReadonlyMap<number, CrushRule>,
  df: CephDf | undefined,
): readonly CephPool[] {
  return map.pools.map((row) => {
    const rule = rules.get(row.crush_rule);
    return {
      id: row.pool,
      name: row.pool_name,
      kind: row.type === erasureCoded ? "erasure" : "replicated",
      size: row.size,
      minSize: row.min_size,
      redundancy: redundancyOf(row, map),
      pgCount: row.pg_num,
      failureDomain:
        rule === undefined
          ? undefined
          : { type: rule.failureDomain, count: countFailureDomains(nodes, rule) },
      applications: Object.keys(row.application_metadata).toSorted(),
      quotaBytes: row.quota_max_bytes === 0n ? undefined : row.quota_max_bytes,
      quotaObjects: row.quota_max_objects === 0 ? undefined : row.quota_max_objects,
      usage: df?.pools.get(row.pool),
    };
  });
}

// pg_pool_t: 1 is replicated.
const erasureCoded = 3;

function redundancyOf(row: OsdMap["pools"][number], map: OsdMap): number | undefined {
  if (row.type !== erasureCoded) {
    return Math.max(0, row.size - 1);
  }
  const m = Number(map.erasure_code_profiles[row.erasure_code_profile]?.m ?? Number.NaN);
  return Number.isInteger(m) ? m : undefined;
}
