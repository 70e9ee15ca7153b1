import type { CephOsds, CephOsdUsage, CephPool } from "../../../../adapters/ceph/adapter.ts";
import type { StorageDifference } from "./storage-difference.ts";

/** Something that can get full. */
export interface Space {
  readonly kind: "osd" | "pool";
  readonly id: number;
  readonly name: string;
  readonly usedBytes: bigint;
  /** 0 when nobody knows. */
  readonly totalBytes: bigint;
}

/** So much, as a share, must be free beyond the limit before there is enough. */
const hysteresis = 0.02;

export function spacesOfOsds(usage: readonly CephOsdUsage[]): Space[] {
  return usage.map(({ id, usedBytes, totalBytes }) => ({
    kind: "osd",
    id,
    name: `osd.${id}`,
    usedBytes,
    totalBytes,
  }));
}

/** What a pool's clients have stored, and what they could: what the OSDs have room for, or the quota where that is less. */
export function spacesOfPools(pools: readonly CephPool[]): Space[] {
  return pools.map(({ id, name, usage, quotaBytes }) => {
    const usedBytes = usage?.storedBytes ?? 0n;
    const roomBytes = usage === undefined ? 0n : usedBytes + usage.availableBytes;
    const isQuotaLess = quotaBytes !== undefined && quotaBytes < roomBytes;
    return { kind: "pool", id, name, usedBytes, totalBytes: isQuotaLess ? quotaBytes : roomBytes };
  });
}

/**
 * What has become nearly full, at the share of its space at which Ceph warns of an OSD, and what has enough again, a little
 * below: what stays around the limit is told once. What is gone is not told.
 * @param nearFull ids of what was nearly full; undefined: it was never looked at, and nothing is told
 * @returns with that the ids of all that is nearly full now
 */
export function spaceDifferences(
  nearFull: readonly number[] | undefined,
  spaces: readonly Space[],
  { nearFullRatio }: Pick<CephOsds, "nearFullRatio">,
): { readonly differences: StorageDifference[]; readonly nearFull: number[] } {
  const differences: StorageDifference[] = [];
  const nearFullNow: number[] = [];
  for (const space of spaces) {
    const wasNearFull = nearFull?.includes(space.id) === true;
    const limit = nearFullRatio - (wasNearFull ? hysteresis : 0);
    const isNearFull =
      space.totalBytes === 0n ? wasNearFull : Number(space.usedBytes) / Number(space.totalBytes) >= limit;
    if (isNearFull) {
      nearFullNow.push(space.id);
    }
    if (nearFull !== undefined && isNearFull !== wasNearFull) {
      differences.push(told(space, isNearFull));
    }
  }
  return { differences, nearFull: nearFullNow };
}

function told({ kind, id, name, usedBytes, totalBytes }: Space, isNearFull: boolean): StorageDifference {
  return {
    type: `${kind}.${isNearFull ? "nearFull" : "enough"}`,
    part: kind === "osd" ? ["osds", String(id)] : ["pools", name],
    detail: { cephSpace: { name, usedBytes: String(usedBytes), totalBytes: String(totalBytes) } },
  };
}
