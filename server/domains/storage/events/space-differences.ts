import type { CephOsds, CephOsdUsage, CephPool } from "../../../../adapters/ceph/adapter.ts";
import { limitCrossings } from "../../../events/limit-crossings.ts";
import type { StorageDifference } from "./storage-difference.ts";

/** The space of an OSD or a pool. */
export interface Space {
  readonly kind: "osd" | "pool";
  readonly id: number;
  readonly name: string;
  readonly usedBytes: bigint;
  /** 0 if it is unknown. */
  readonly totalBytes: bigint;
}

/** Share of the space that must be free beyond the limit before a nearly full OSD or pool has enough again. */
const hysteresis = 0.02;

/** Returns the used bytes and the capacity of each OSD. */
export function spacesOfOsds(usage: readonly CephOsdUsage[]): Space[] {
  return usage.map(({ id, usedBytes, totalBytes }) => ({
    kind: "osd",
    id,
    name: `osd.${id}`,
    usedBytes,
    totalBytes,
  }));
}

/** Returns the stored bytes and the capacity of each pool: the room on its OSDs, or its quota if that is smaller. */
export function spacesOfPools(pools: readonly CephPool[]): Space[] {
  return pools.map(({ id, name, usage, quotaBytes }) => {
    const usedBytes = usage?.storedBytes ?? 0n;
    const roomBytes = usage === undefined ? 0n : usedBytes + usage.availableBytes;
    const isQuotaLess = quotaBytes !== undefined && quotaBytes < roomBytes;
    return { kind: "pool", id, name, usedBytes, totalBytes: isQuotaLess ? quotaBytes : roomBytes };
  });
}

/**
 * Returns the OSDs or pools that became nearly full, and those that have enough space again. The limit is the ratio at which
 * Ceph warns of an OSD; a hysteresis prevents repeated reports around it. Removed ones are not reported.
 * @param nearFull ids that were nearly full; if undefined, there was no earlier check, and nothing is reported
 * @returns the differences, and the ids that are nearly full now
 */
export function spaceDifferences(
  nearFull: readonly number[] | undefined,
  spaces: readonly Space[],
  { nearFullRatio }: Pick<CephOsds, "nearFullRatio">,
): { readonly differences: StorageDifference[]; readonly nearFull: number[] } {
  const { crossings, beyond } = limitCrossings(nearFull ?? [], spaces, {
    keyOf: ({ id }) => id,
    isBeyond: ({ usedBytes, totalBytes }, wasNearFull) =>
      totalBytes === 0n
        ? undefined
        : Number(usedBytes) / Number(totalBytes) >= nearFullRatio - (wasNearFull ? hysteresis : 0),
  });
  const reported = nearFull === undefined ? [] : crossings;
  return {
    differences: reported.map(({ resource, isBeyond }) => difference(resource, isBeyond)),
    nearFull: beyond,
  };
}

function difference(
  { kind, id, name, usedBytes, totalBytes }: Space,
  isNearFull: boolean,
): StorageDifference {
  return {
    type: `${kind}.${isNearFull ? "nearFull" : "enough"}`,
    part: kind === "osd" ? ["osds", String(id)] : ["pools", name],
    detail: { cephSpace: { name, usedBytes: String(usedBytes), totalBytes: String(totalBytes) } },
  };
}
