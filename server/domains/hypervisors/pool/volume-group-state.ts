import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LvmState, VolumeGroup } from "../../../../adapters/lvm/adapter.ts";
import type { DeviceFacts, PhysicalVolume } from "../../../../adapters/lvm/device-adapter.ts";
import { volumeGroupResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import type { ShownCommand } from "../../../lvm/shown-command.ts";
import type { PoolSpare, PoolState } from "./storage-pool.ts";

/** Space that LVM reserves at the beginning of a device, by default. */
const metadataBytes = 1n << 20n;

/** A device of the group and its path in the configuration. */
export interface GroupDevice {
  readonly physicalVolume: PhysicalVolume;
  /** Undefined if the configuration does not list the device. */
  readonly configuredPath: string | undefined;
}

/** LVM's state and the configured devices of a group. */
export interface GroupRead {
  readonly state: LvmState;
  readonly name: string;
  /** Facts of the configured devices, in their order. */
  readonly devices: readonly DeviceFacts[];
  readonly shown: ShownCommand;
}

/** The group that a spare could be added to. */
type SparePlace = Pick<GroupRead, "state" | "shown"> & { readonly group: VolumeGroup | undefined };

/** @throws InfraError VOLUME_GROUP_GONE */
export function groupNamed({ volumeGroups }: LvmState, name: string): VolumeGroup {
  const group = volumeGroups.find((one) => one.name === name);
  if (group === undefined) {
    throw new InfraError(lvmReasons.VOLUME_GROUP_GONE, `the volume group ${name} is missing`, {
      resource: volumeGroupResource(name),
    });
  }
  return group;
}

/** Returns the devices of a group in LVM's order. @param facts facts of the configured devices, in their order */
export function devicesOf(
  { physicalVolumes }: LvmState,
  name: string,
  facts: readonly DeviceFacts[],
): GroupDevice[] {
  return physicalVolumes
    .filter(({ volumeGroupName }) => volumeGroupName === name)
    .map((physicalVolume) => ({
      physicalVolume,
      configuredPath: facts.find((one) => isSameDevice(one, physicalVolume))?.path,
    }));
}

/** Converts what was read of a group to the state of a pool. @throws InfraError VOLUME_GROUP_GONE */
export function poolStateFrom(read: GroupRead): PoolState {
  const { state, name, devices: facts } = read;
  const group = groupNamed(state, name);
  const devices = devicesOf(state, name, facts);
  return {
    name,
    identity: group.uuid,
    kind: "volumeGroup",
    sizeBytes: group.sizeBytes,
    usedBytes: group.sizeBytes - group.freeBytes,
    freeBytes: group.freeBytes,
    devices: devices.map(({ physicalVolume, configuredPath }) => ({
      path: configuredPath ?? physicalVolume.path,
      sizeBytes: physicalVolume.sizeBytes,
      usedBytes: physicalVolume.usedBytes,
      missing: physicalVolume.missing,
      configured: configuredPath !== undefined,
    })),
    spares: sparesFrom(read),
  };
}

/** Returns the configured devices that are not in the group, even if the group is missing. */
export function sparesFrom({ state, name, devices: facts, shown }: GroupRead): PoolSpare[] {
  const group = state.volumeGroups.find((one) => one.name === name);
  const inPool = new Set(devicesOf(state, name, facts).map(({ configuredPath }) => configuredPath));
  return facts
    .map((one, index) => ({ one, index }))
    .filter(({ one }) => !inPool.has(one.path))
    .map(({ one, index }) => spareFrom(one, facts.slice(0, index), { state, group, shown }));
}

function spareFrom(facts: DeviceFacts, earlier: readonly DeviceFacts[], place: SparePlace): PoolSpare {
  const { path, sizeBytes } = facts;
  return { path, sizeBytes, unusable: whyUnusable(facts, earlier, place) };
}

function whyUnusable(
  facts: DeviceFacts,
  earlier: readonly DeviceFacts[],
  { state: { physicalVolumes }, group, shown }: SparePlace,
): string {
  const twin = earlier.find((one) => one.device !== undefined && isSameDevice(facts, one));
  if (twin !== undefined) {
    return `it is the same device as ${twin.path}`;
  }
  const marked = physicalVolumes.find((one) => isSameDevice(facts, one));
  if (marked !== undefined) {
    return marked.volumeGroupName === undefined
      ? `it is an LVM physical volume without a group: free it with \`${shown(["pvremove", facts.path])}\``
      : `it is in the volume group ${marked.volumeGroupName}`;
  }
  if (facts.obstacles.length > 0) {
    return facts.obstacles.join(", ");
  }
  const isTooSmall = group !== undefined && givenBytes(facts.sizeBytes, group) === 0n;
  return isTooSmall ? "it is smaller than one extent" : "";
}

/** Returns the bytes by which a device enlarges the group. */
export function givenBytes(sizeBytes: bigint, { extentSizeBytes }: VolumeGroup): bigint {
  const room = sizeBytes - metadataBytes;
  return room < 0n ? 0n : (room / extentSizeBytes) * extentSizeBytes;
}

/** Compares by device number, since a device has several paths. False if a number is unknown. */
export function isSameDevice(a: Pick<DeviceFacts, "device">, b: Pick<DeviceFacts, "device">): boolean {
  return a.device !== undefined && a.device.major === b.device?.major && a.device.minor === b.device.minor;
}
