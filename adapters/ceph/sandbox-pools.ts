import type { CephPool } from "./adapter.ts";

const gibibyte = 1n << 30n;

/** Size of every OSD of a sandbox, and the part of it in use. */
export const osdBytes = 1024n * gibibyte;
export const usedBytesPerOsd = 150n * gibibyte;

/** Pools and the data that clients have stored in them. Each object has three copies. */
export const smallPools = [
  { name: "images", application: "rbd", pgCount: 64, objectCount: 51_200, storedBytes: 200n * gibibyte },
  { name: "cephfs.metadata", application: "cephfs", pgCount: 16, objectCount: 1_100, storedBytes: gibibyte },
  {
    name: "cephfs.data",
    application: "cephfs",
    pgCount: 32,
    objectCount: 24_576,
    storedBytes: 96n * gibibyte,
  },
  { name: "default.rgw.data", application: "rgw", pgCount: 32, objectCount: 768, storedBytes: 3n * gibibyte },
] as const;

/** Returns pools with three copies, one on each of three hosts. */
export function poolsFrom(
  pools: readonly (Omit<(typeof smallPools)[number], "pgCount"> & { readonly pgCount: number })[],
  hostCount: number,
  osdCount: number,
): CephPool[] {
  const availableBytes = (BigInt(osdCount) * (osdBytes - usedBytesPerOsd)) / 3n;
  return pools.map(({ name, application, pgCount, objectCount, storedBytes }, index) => ({
    id: index + 1,
    name,
    kind: "replicated",
    size: 3,
    minSize: 2,
    redundancy: 2,
    pgCount,
    failureDomain: { type: "host", count: hostCount },
    applications: [application],
    quotaBytes: undefined,
    quotaObjects: undefined,
    usage: { objectCount, storedBytes, usedBytes: 3n * storedBytes, availableBytes },
  }));
}
