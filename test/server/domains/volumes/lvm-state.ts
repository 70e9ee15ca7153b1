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

/** Returns a state for tests, in which each group has one device. */
export function stateOf(volumeGroups: readonly VolumeGroup[], volumes: readonly LogicalVolume[]): LvmState {
  const physicalVolumes = volumeGroups.map(({ name, sizeBytes, freeBytes }) => ({
    path: `/dev/of-${name}`,
    uuid: `uuid-of-device-${name}`,
    volumeGroupName: name,
    sizeBytes,
    usedBytes: sizeBytes - freeBytes,
    allocatable: true,
    missing: false,
    device: undefined,
  }));
  return { volumeGroups, volumes, physicalVolumes };
}
