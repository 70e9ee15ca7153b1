import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmState, VolumeGroup } from "../../../adapters/lvm/adapter.ts";
import { parseCreateOptions } from "../../../adapters/lvm/create-options.ts";
import { volumeGroupResource } from "../../../adapters/lvm/names.ts";
import { isBackupSnapshot } from "../../backups/lvm/operation-marks.ts";
import { bytesPerGiB } from "./size.ts";

/** What clients order volumes from: a volume group, or a thin pool in one. */
export interface DeviceClass {
  readonly name: string;
  readonly volumeGroup: string;
  readonly default: boolean;
  /** Free space of the group that GetFreeBytes and Watch keep back. Means nothing for a thin pool. */
  readonly spareGiB: number;
  readonly thinPool?: string;
  /** How many times its size a thin pool may promise to its volumes. */
  readonly overprovision?: number;
  /** On how many devices its volumes lie side by side. */
  readonly stripe?: number;
  /** How much of a volume is on one device before it goes on with the next, as lvcreate reads it: `64k`. */
  readonly stripeSize?: string;
  /** Further words for lvcreate. */
  readonly lvcreateOptions?: readonly string[];
}

/** Words for lvcreate that a request may name instead of those of its device class. */
export interface LvcreateOptionClass {
  readonly name: string;
  readonly options: readonly string[];
}

/** What lvcreate is told for volumes of a class, in its long form. */
export function createOptionsOf({ stripe, stripeSize, lvcreateOptions = [] }: DeviceClass): string[] {
  return [
    ...(stripe === undefined ? [] : ["--stripes", String(stripe)]),
    ...(stripeSize === undefined ? [] : ["--stripesize", stripeSize]),
    ...parseCreateOptions(lvcreateOptions, "lvcreateOptions"),
  ];
}

/** A device class together with what LVM has for it at this moment. */
export interface ResolvedClass {
  readonly deviceClass: DeviceClass;
  readonly group: VolumeGroup;
  /** The thin pool of a thin class. */
  readonly pool: LogicalVolume | undefined;
}

/**
 * The class of that name; the empty name means the default class.
 * @throws InfraError DEVICE_CLASS_NOT_FOUND
 */
export function findDeviceClass(classes: readonly DeviceClass[], name: string): DeviceClass {
  const found = classes.find((one) => (name === "" ? one.default : one.name === name));
  if (found === undefined) {
    const known = classes.map((one) => one.name).join(", ");
    throw new InfraError("DEVICE_CLASS_NOT_FOUND", `device-class not found: ${name} (there are: ${known})`, {
      resource: `deviceClasses/${name}`,
    });
  }
  return found;
}

/** What LVM has for a class, or undefined while its volume group or thin pool is not there. */
export function resolveClass(deviceClass: DeviceClass, state: LvmState): ResolvedClass | undefined {
  const group = state.volumeGroups.find(({ name }) => name === deviceClass.volumeGroup);
  if (group === undefined) {
    return undefined;
  }
  if (deviceClass.thinPool === undefined) {
    return { deviceClass, group, pool: undefined };
  }
  const pool = state.volumes.find(
    ({ volumeGroupName, name, kind }) =>
      volumeGroupName === group.name && name === deviceClass.thinPool && kind === "thinPool",
  );
  return pool === undefined ? undefined : { deviceClass, group, pool };
}

/** What a class stands on, as a sentence would call it. */
export function describeStore(deviceClass: DeviceClass): string {
  return deviceClass.thinPool === undefined
    ? `volume group ${deviceClass.volumeGroup}`
    : `thin pool ${deviceClass.volumeGroup}/${deviceClass.thinPool}`;
}

/** @throws InfraError VOLUME_GROUP_GONE */
export function assertResolved(deviceClass: DeviceClass, state: LvmState): ResolvedClass {
  const resolved = resolveClass(deviceClass, state);
  if (resolved === undefined) {
    throw new InfraError(
      "VOLUME_GROUP_GONE",
      `${describeStore(deviceClass)} of device class ${deviceClass.name} is not there`,
      { resource: volumeGroupResource(deviceClass.volumeGroup) },
    );
  }
  return resolved;
}

/**
 * The volumes of a class. Thick: every volume of the group that is not a thin pool, whoever made it. Thin: the
 * volumes of the pool.
 */
export function volumesOf({ group, pool }: ResolvedClass, state: LvmState): LogicalVolume[] {
  return state.volumes.filter(
    (volume) =>
      volume.volumeGroupName === group.name &&
      (pool === undefined ? volume.kind !== "thinPool" : volume.thinPoolName === pool.name),
  );
}

/**
 * Bytes a new volume of the class may take: the group's free space, or what a thin pool may still promise
 * (its size times `overprovision`, less the sizes of its volumes).
 */
export function allocatableBytes(resolved: ResolvedClass, state: LvmState): bigint {
  const { deviceClass, group, pool } = resolved;
  if (pool === undefined) {
    return group.freeBytes;
  }
  const thousandths = BigInt(Math.round((deviceClass.overprovision ?? 1) * 1000));
  // The snapshots that backups read last no longer than those: nobody is to find a pool full because of one.
  const lasting = volumesOf(resolved, state).filter((volume) => !isBackupSnapshot(volume));
  const promised = lasting.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n);
  return atLeastZero((pool.sizeBytes * thousandths) / 1000n - promised);
}

/** Bytes that GetFreeBytes and Watch report: what is allocatable, less the class's spare. */
export function reportedFreeBytes(resolved: ResolvedClass, state: LvmState): bigint {
  const allocatable = allocatableBytes(resolved, state);
  return resolved.pool === undefined ? lessSpare(resolved.deviceClass, allocatable) : allocatable;
}

/** Free space less what the class keeps back. */
export function lessSpare({ spareGiB }: DeviceClass, bytes: bigint): bigint {
  return atLeastZero(bytes - BigInt(spareGiB) * bytesPerGiB);
}

function atLeastZero(bytes: bigint): bigint {
  return bytes > 0n ? bytes : 0n;
}
