import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmState, VolumeGroup } from "../../../adapters/lvm/adapter.ts";
import { parseCreateOptions } from "../../../adapters/lvm/create-options.ts";
import type { PhysicalVolume } from "../../../adapters/lvm/device-adapter.ts";
import { volumeGroupResource } from "../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../adapters/lvm/reasons.ts";
import { isBackupSnapshot } from "../../lvm/operation-marks.ts";
import { type Layout, largestVolumeBytes, layoutFrom } from "./layout.ts";
import { volumeReasons } from "./reasons.ts";
import { bytesPerGiB } from "./size.ts";

/** A source of volumes that clients choose by name: a volume group, or a thin pool in one. */
export interface DeviceClass {
  readonly name: string;
  readonly volumeGroup: string;
  readonly default: boolean;
  /**
   * Free space, in GiB, that GetFreeBytes and Watch do not report. For a thin pool only GetFreeBytes of the current
   * lvmd protocol subtracts it.
   */
  readonly spareGiB: number;
  readonly thinPool?: string;
  /** Limit for the total size of a thin pool's volumes, as a multiple of the pool's size; 1 when absent. */
  readonly overprovision?: number;
  /** Number of devices that volumes are striped across (`lvcreate --stripes`). */
  readonly stripe?: number;
  /** Stripe size in lvcreate's notation, for example `64k` (`lvcreate --stripesize`). */
  readonly stripeSize?: string;
  /** Additional lvcreate options. */
  readonly lvcreateOptions?: readonly string[];
}

/** A named set of lvcreate options that a request may select instead of the options of its device class. */
export interface LvcreateOptionClass {
  readonly name: string;
  readonly options: readonly string[];
}

/** Returns the lvcreate options for volumes of a class, in their long form. */
export function createOptionsOf({ stripe, stripeSize, lvcreateOptions = [] }: DeviceClass): string[] {
  return [
    ...(stripe === undefined ? [] : ["--stripes", String(stripe)]),
    ...(stripeSize === undefined ? [] : ["--stripesize", stripeSize]),
    ...parseCreateOptions(lvcreateOptions, "lvcreateOptions"),
  ];
}

/** Returns the layout of new volumes of a class. */
export function layoutOf(deviceClass: DeviceClass): Layout {
  return layoutFrom(createOptionsOf(deviceClass));
}

/** A device class with its volume group and thin pool, as LVM reports them. */
export interface ResolvedClass {
  readonly deviceClass: DeviceClass;
  readonly group: VolumeGroup;
  /** The thin pool of a thin class. */
  readonly pool: LogicalVolume | undefined;
}

/**
 * Returns the class with that name; the empty name selects the default class.
 * @throws InfraError DEVICE_CLASS_NOT_FOUND
 */
export function findDeviceClass(classes: readonly DeviceClass[], name: string): DeviceClass {
  const found = classes.find((one) => (name === "" ? one.default : one.name === name));
  if (found === undefined) {
    const known = classes.map((one) => one.name).join(", ");
    throw new InfraError(
      volumeReasons.DEVICE_CLASS_NOT_FOUND,
      `device-class not found: ${name} (available: ${known})`,
      {
        resource: `deviceClasses/${name}`,
      },
    );
  }
  return found;
}

/** Returns a class with its volume group and thin pool, or undefined while one of these is missing. */
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

/** Names the volume group or thin pool of a class, for use in a sentence. */
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
      lvmReasons.VOLUME_GROUP_GONE,
      `${describeStore(deviceClass)} of device class ${deviceClass.name} is missing`,
      { resource: volumeGroupResource(deviceClass.volumeGroup) },
    );
  }
  return resolved;
}

/**
 * Returns the volumes of a class. Thick: every volume of the group that is not a thin pool, including volumes created
 * outside hostplane. Thin: the volumes of the pool.
 */
export function volumesOf({ group, pool }: ResolvedClass, state: LvmState): LogicalVolume[] {
  return state.volumes.filter(
    (volume) =>
      volume.volumeGroupName === group.name &&
      (pool === undefined ? volume.kind !== "thinPool" : volume.thinPoolName === pool.name),
  );
}

/** Where a volume is stored. */
interface VolumeStore {
  readonly volumeGroupName: string;
  readonly kind: string;
  /** Undefined or null: not in a thin pool. */
  readonly thinPoolName: string | undefined | null;
}

/**
 * Returns the name of the class that addresses a volume in requests: that of its thin pool, else the thick class of its
 * group. Undefined if there is none, and for a thin pool.
 */
export function deviceClassOf(
  { volumeGroupName, kind, thinPoolName }: VolumeStore,
  deviceClasses: readonly DeviceClass[],
): string | undefined {
  if (kind === "thinPool") {
    return undefined;
  }
  const ofGroup = deviceClasses.filter(({ volumeGroup }) => volumeGroup === volumeGroupName);
  const ofPool = ofGroup.find(({ thinPool }) => thinPool !== undefined && thinPool === thinPoolName);
  return (ofPool ?? ofGroup.find(({ thinPool }) => thinPool === undefined))?.name;
}

/**
 * Returns the space for all volumes of a class: the largest volume that would fit in its group if that were empty, or the limit for
 * the total size of a thin pool's volumes.
 */
export function limitBytes({ deviceClass, group, pool }: ResolvedClass, state: LvmState): bigint {
  if (pool === undefined) {
    return largestOf(deviceClass, group, state, ({ sizeBytes }) => sizeBytes);
  }
  const thousandths = BigInt(Math.round((deviceClass.overprovision ?? 1) * 1000));
  return (pool.sizeBytes * thousandths) / 1000n;
}

/**
 * Returns the bytes that new volumes of the class may allocate: the group's free space, or what is left below the
 * overprovisioning limit of a thin pool (its size times `overprovision`, less the sizes of its volumes).
 */
export function allocatableBytes(resolved: ResolvedClass, state: LvmState): bigint {
  const { group, pool } = resolved;
  if (pool === undefined) {
    return group.freeBytes;
  }
  // Backup snapshots exist only while a backup runs; a pool must not appear full because of one.
  const lasting = volumesOf(resolved, state).filter((volume) => !isBackupSnapshot(volume));
  const promised = lasting.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n);
  return atLeastZero(limitBytes(resolved, state) - promised);
}

/**
 * Returns the size of the largest new volume of the class. Of a thick class with copies, parity or stripes, this is less than it
 * may allocate.
 */
export function creatableBytes(resolved: ResolvedClass, state: LvmState): bigint {
  const { deviceClass, group, pool } = resolved;
  return pool === undefined
    ? largestOf(deviceClass, group, state, ({ sizeBytes, usedBytes, allocatable, missing }) =>
        allocatable && !missing ? sizeBytes - usedBytes : 0n,
      )
    : allocatableBytes(resolved, state);
}

function largestOf(
  deviceClass: DeviceClass,
  { name, extentSizeBytes }: VolumeGroup,
  { physicalVolumes }: LvmState,
  freeBytesOf: (device: PhysicalVolume) => bigint,
): bigint {
  const devices = physicalVolumes.filter(({ volumeGroupName }) => volumeGroupName === name);
  return largestVolumeBytes(devices, extentSizeBytes, layoutOf(deviceClass), freeBytesOf);
}

/** Returns the bytes that GetFreeBytes and Watch report: the creatable bytes, less the spare of a thick class. */
export function reportedFreeBytes(resolved: ResolvedClass, state: LvmState): bigint {
  const creatable = creatableBytes(resolved, state);
  return resolved.pool === undefined ? lessSpare(resolved.deviceClass, creatable) : creatable;
}

/** Subtracts the spare of a class from free space; the result is never below 0. */
export function lessSpare({ spareGiB }: DeviceClass, bytes: bigint): bigint {
  return atLeastZero(bytes - BigInt(spareGiB) * bytesPerGiB);
}

function atLeastZero(bytes: bigint): bigint {
  return bytes > 0n ? bytes : 0n;
}
