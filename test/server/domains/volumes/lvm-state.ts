import type { LogicalVolume, LvmState, VolumeGroup } from "../../../../adapters/lvm/adapter.ts";

/** A volume group for tests: 100 GiB, 4 MiB extents. */
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

/** An inactive linear volume of 1 GiB for tests. */
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
    ...facts,
  };
}

export function stateOf(volumeGroups: readonly VolumeGroup[], volumes: readonly LogicalVolume[]): LvmState {
  return { volumeGroups, volumes, physicalVolumes: [] };
}
