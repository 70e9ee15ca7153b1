import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import type { LogicalVolume, LvmState, VolumeGroup } from "../../../../adapters/lvm/adapter.ts";
import { volumeGroupResource, volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import type { ChangeTarget } from "../../../domain/short-change.ts";
import type { DeviceClass } from "../device-class.ts";

/** The part of a validated change that all changes of thin pools have. */
export interface PoolSpec {
  readonly volumeGroup: string;
  readonly name: string;
}

/** Limits of the metadata space, by lvmthin(7). */
const metadataLimits = { leastBytes: 2n << 20n, mostBytes: (158n << 30n) / 10n };

/** Changes of a pool share the queue of its volumes. */
export function targetOfPool({ volumeGroup, name }: PoolSpec): ChangeTarget {
  return { resource: volumeResource(volumeGroup, name) };
}

/** Checks that a device class uses the group; others are not the gateway's. @throws InfraError INVALID_FIELD */
export function assertServedGroup(volumeGroup: string, deviceClasses: readonly DeviceClass[]): void {
  const groups = [...new Set(deviceClasses.map((one) => one.volumeGroup))];
  if (!groups.includes(volumeGroup)) {
    throw invalidField(
      "volume_group",
      `must be the volume group of a device class: ${groups.join(", ")}, is ${JSON.stringify(volumeGroup)}`,
    );
  }
}

/**
 * Checks a size in bytes.
 * @param leastBytes smallest size, or 0 if the field may be 0 for none
 * @throws InfraError INVALID_FIELD
 */
export function assertDataSize(sizeBytes: bigint, leastBytes: bigint): void {
  if (sizeBytes < leastBytes) {
    throw invalidField("size_bytes", `must be at least ${leastBytes}, is ${sizeBytes}`);
  }
}

/** Checks the size of a metadata space; 0 stands for none. @throws InfraError INVALID_FIELD */
export function assertMetadataSize(sizeBytes: bigint): void {
  const { leastBytes, mostBytes } = metadataLimits;
  if (sizeBytes !== 0n && (sizeBytes < leastBytes || sizeBytes > mostBytes)) {
    throw invalidField(
      "metadata_size_bytes",
      `must be 0, or from ${leastBytes} to ${mostBytes}, is ${sizeBytes}`,
    );
  }
}

/** @throws InfraError VOLUME_GROUP_GONE */
export function requireGroup({ volumeGroups }: LvmState, name: string): VolumeGroup {
  const group = volumeGroups.find((one) => one.name === name);
  if (group === undefined) {
    throw new InfraError(lvmReasons.VOLUME_GROUP_GONE, `volume group ${name} is missing`, {
      resource: volumeGroupResource(name),
    });
  }
  return group;
}

/** @throws InfraError VOLUME_NOT_FOUND */
export function requirePool({ volumes }: LvmState, { volumeGroup, name }: PoolSpec): LogicalVolume {
  const pool = volumes.find(
    (one) => one.volumeGroupName === volumeGroup && one.name === name && one.kind === "thinPool",
  );
  if (pool === undefined) {
    throw new InfraError(lvmReasons.VOLUME_NOT_FOUND, `thin pool ${volumeGroup}/${name} not found`, {
      resource: volumeResource(volumeGroup, name),
    });
  }
  return pool;
}

/** @throws InfraError NO_SPACE */
export function assertGroupSpace({ name, freeBytes }: VolumeGroup, neededBytes: bigint): void {
  if (freeBytes < neededBytes) {
    throw new InfraError(
      hostReasons.NO_SPACE,
      `not enough space on volume group ${name}: free=${freeBytes}, requested=${neededBytes}`,
      { resource: volumeGroupResource(name) },
    );
  }
}
