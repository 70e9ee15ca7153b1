import type { LogicalVolume, LvmState, VolumeGroup } from "../../../../adapters/lvm/adapter.ts";

/** Returns a volume group for tests, of 100 GiB with extents of 4 MiB. */
export function groupOf(name: string, freeBytes: bigint): VolumeGroup {
  return {
    name,
    uuid: `uuid-of-${name}`,
    sizeBytes: 100n << 30n,
    freeBytes,
    extentSizeBytes: 4n << 20n,
    missingPvCount: 0,
  };
}

/** Returns an inactive linear volume of 1 GiB for tests. */
export function volumeOf(
  volumeGroupName: string,
  name: string,
  facts: Partial<LogicalVolume> = {},
): LogicalVolume {
  return {
    name,
    uuid: `uuid-of-${name}`,
    volumeGroupName,
    kind: "linear",
    health: "ok",
    sizeBytes: 1n << 30n,
    tags: [],
    device: undefined,
    active: false,
    readOnly: false,
    attributes: "-wi-------",
    open: false,
    thinPoolName: undefined,
    originName: undefined,
    dataPercent: undefined,
    metadataPercent: undefined,
    metadataSizeBytes: undefined,
    roomBytes: undefined,
    merging: false,
    devicePaths: [],
    ...facts,
  };
}

export function stateOf(volumeGroups: readonly VolumeGroup[], volumes: readonly LogicalVolume[]): LvmState {
  return { volumeGroups, volumes, physicalVolumes: [] };
}
