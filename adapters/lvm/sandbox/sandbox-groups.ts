import type { Reason } from "../../host/define-reasons.ts";
import { InfraError } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";
import type { LogicalVolume, LvmState, LvmStep, VolumeGroup } from "../adapter.ts";
import { resourceOf } from "../errors.ts";
import { lvmReasons } from "../reasons.ts";
import { createSandboxDevices, type SandboxDevice, type SandboxDevices } from "./sandbox-devices.ts";

/** A volume as stored; the other fields are derived. */
export type SandboxVolume = Omit<LogicalVolume, "attributes" | "devicePaths">;

/** The fields that a new volume may set; the others start the same for all. */
export type NewSandboxVolume = Pick<
  SandboxVolume,
  "volumeGroupName" | "name" | "kind" | "sizeBytes" | "tags"
> &
  Partial<SandboxVolume>;

/** Volume groups in memory, with the space that volumes use in them. */
export interface SandboxGroups {
  state(): LvmState;
  /** Creates a group on new devices. */
  addGroup(name: string, extentSizeBytes: bigint, devices: readonly SandboxDevice[]): void;
  /** The devices of the groups; changing them also changes the sizes of groups. */
  readonly devices: SandboxDevices;
  groupNamed(name: string): VolumeGroup | undefined;
  /** @throws InfraError VOLUME_GROUP_GONE */
  groupOf(step: LvmStep): VolumeGroup;
  find(volumeGroupName: string, name: string): SandboxVolume | undefined;
  /** Returns the volume that the step changes. @throws InfraError VOLUME_GROUP_GONE, VOLUME_NOT_FOUND */
  volumeOf(step: LvmStep): SandboxVolume;
  /** Returns the copy-on-write snapshots of a volume. */
  snapshotsOf(volume: SandboxVolume): SandboxVolume[];
  /**
   * Adds a volume that uses `groupBytes` of its group; active by default.
   * @param stripes number of devices that each get an equal share (default 1: any device with free space)
   * @throws InfraError NO_SPACE
   */
  add(step: LvmStep, volume: NewSandboxVolume, groupBytes: bigint, stripes?: number): void;
  /** Allocates more space of the group to a volume, whose size stays the same. @throws InfraError NO_SPACE */
  take(step: LvmStep, volume: SandboxVolume, bytes: bigint): void;
  /** @throws InfraError NO_SPACE */
  grow(step: LvmStep, volume: SandboxVolume, sizeBytes: bigint): void;
  alter(volume: SandboxVolume, change: Partial<SandboxVolume>): void;
  /** Renames the volume everywhere it is referenced. */
  rename(volume: SandboxVolume, newName: string): void;
  setActive(volume: SandboxVolume, active: boolean): void;
  /** Hides a snapshot that is being merged: it keeps its name and its space, but the state no longer shows it. */
  hide(volume: SandboxVolume): void;
  /** Gives a volume the size of the snapshot that is being merged into it, and removes the snapshot. */
  endMerge(origin: SandboxVolume): void;
  /** Removes the volume and frees its space in the group. A thin snapshot of it stays, without an origin. */
  remove(volume: SandboxVolume): void;
}

/** Builds a refusal with LVM's message. */
export function sandboxFailure(reason: Reason, step: LvmStep, words: string): InfraError {
  return new InfraError(reason, words, { resource: resourceOf(step, reason) });
}

/** Creates an empty set of groups. Nothing in it is random. */
export function createSandboxGroups(): SandboxGroups {
  const devices = createSandboxDevices();
  let volumeGroups: readonly Omit<VolumeGroup, "sizeBytes" | "freeBytes">[] = [];
  /** By UUID, in the order of creation. */
  const volumes = new Map<string, SandboxVolume>();
  const uuids = new Map<string, string>();
  /** UUIDs of volumes that are being merged. */
  const hidden = new Set<string>();
  let createdVolumes = 0;
  let createdDevices = 0;

  function withSizes(group: (typeof volumeGroups)[number]): VolumeGroup {
    const own = devices.physicalVolumes().filter(({ volumeGroupName }) => volumeGroupName === group.name);
    const sizeBytes = own.reduce((sum, one) => sum + one.sizeBytes, 0n);
    return { ...group, sizeBytes, freeBytes: own.reduce((sum, one) => sum - one.usedBytes, sizeBytes) };
  }

  function groupNamed(name: string): VolumeGroup | undefined {
    const group = volumeGroups.find((one) => one.name === name);
    return group && withSizes(group);
  }

  function groupOf(step: LvmStep): VolumeGroup {
    const group = groupNamed(step.volumeGroupName);
    if (group === undefined) {
      throw sandboxFailure(
        lvmReasons.VOLUME_GROUP_GONE,
        step,
        `Volume group "${step.volumeGroupName}" not found`,
      );
    }
    return group;
  }

  function find(volumeGroupName: string, name: string): SandboxVolume | undefined {
    return volumes.get(uuids.get(`${volumeGroupName}/${name}`) ?? "");
  }

  function take(step: LvmStep, uuid: string, bytes: bigint, stripes = 1): void {
    const group = groupOf(step);
    if (!devices.allocate(group.name, uuid, bytes, stripes)) {
      const free = group.freeBytes / group.extentSizeBytes;
      const needed = bytes / group.extentSizeBytes;
      const words = `Volume group "${group.name}" has insufficient free space (${free} extents): ${needed} required.`;
      throw sandboxFailure(hostReasons.NO_SPACE, step, words);
    }
  }

  function alter(volume: SandboxVolume, change: Partial<SandboxVolume>): void {
    volumes.set(volume.uuid, { ...(volumes.get(volume.uuid) ?? volume), ...change });
  }

  const snapshotsOf = (volume: SandboxVolume): SandboxVolume[] =>
    [...volumes.values()].filter((one) => one.kind === "snapshot" && isSnapshotOf(one, volume));

  function remove(volume: SandboxVolume): void {
    devices.release(volume.uuid);
    volumes.delete(volume.uuid);
    hidden.delete(volume.uuid);
    uuids.delete(`${volume.volumeGroupName}/${volume.name}`);
    for (const one of volumes.values()) {
      if (isSnapshotOf(one, volume)) {
        alter(one, { originName: undefined });
      }
    }
  }

  function withAttributes(): LogicalVolume[] {
    const all = [...volumes.values()].filter(({ uuid }) => !hidden.has(uuid));
    const origins = new Set(
      all.filter(({ kind }) => kind === "snapshot").map((one) => `${one.volumeGroupName}/${one.originName}`),
    );
    return all.map((volume) => {
      const isOrigin = origins.has(`${volume.volumeGroupName}/${volume.name}`);
      const devicePaths = devices.pathsOf(volume.uuid);
      return { ...volume, attributes: attributesOf(volume, isOrigin), devicePaths };
    });
  }

  return {
    devices,
    state: () => ({
      volumeGroups: volumeGroups.map(withSizes),
      volumes: withAttributes(),
      physicalVolumes: devices.physicalVolumes(),
    }),
    addGroup(name, extentSizeBytes, ownDevices) {
      const uuid = `sandbox-group-${volumeGroups.length + 1}`;
      volumeGroups = [...volumeGroups, { name, uuid, extentSizeBytes, missingPvCount: 0 }];
      for (const device of ownDevices) {
        devices.addDevice(device);
        devices.join(device.path, name, extentSizeBytes);
      }
    },
    groupNamed,
    groupOf,
    find,
    volumeOf(step) {
      groupOf(step);
      const volume = find(step.volumeGroupName, step.name);
      if (volume === undefined) {
        const words = `Failed to find logical volume "${step.volumeGroupName}/${step.name}"`;
        throw sandboxFailure(lvmReasons.VOLUME_NOT_FOUND, step, words);
      }
      return volume;
    },
    snapshotsOf,
    add(step, volume, groupBytes, stripes) {
      const uuid = `sandbox-volume-${createdVolumes + 1}`;
      take(step, uuid, groupBytes, stripes);
      createdVolumes += 1;
      const created: SandboxVolume = {
        uuid,
        health: "ok",
        active: true,
        readOnly: false,
        open: false,
        thinPoolName: undefined,
        originName: undefined,
        dataPercent: undefined,
        metadataPercent: undefined,
        metadataSizeBytes: undefined,
        roomBytes: undefined,
        merging: false,
        ...volume,
        device: volume.active === false ? undefined : { major: 253, minor: createdDevices++ },
        tags: [...new Set(volume.tags)].sort(),
      };
      volumes.set(uuid, created);
      uuids.set(`${created.volumeGroupName}/${created.name}`, uuid);
    },
    take: (step, { uuid }, bytes) => take(step, uuid, bytes),
    grow(step, volume, sizeBytes) {
      if (volume.thinPoolName === undefined) {
        take(step, volume.uuid, sizeBytes - volume.sizeBytes);
      }
      alter(volume, { sizeBytes });
    },
    alter,
    rename(volume, newName) {
      const { volumeGroupName, name, uuid } = volume;
      const renamed = (link: string | undefined) => (link === name ? newName : link);
      for (const one of volumes.values()) {
        if (one.volumeGroupName === volumeGroupName) {
          const links = { originName: renamed(one.originName), thinPoolName: renamed(one.thinPoolName) };
          alter(one, { ...links, name: one.uuid === uuid ? newName : one.name });
        }
      }
      uuids.delete(`${volumeGroupName}/${name}`);
      uuids.set(`${volumeGroupName}/${newName}`, uuid);
    },
    setActive(volume, active) {
      const device = volume.device ?? { major: 253, minor: createdDevices++ };
      alter(volume, { active, device: active ? device : undefined });
    },
    hide: ({ uuid }) => void hidden.add(uuid),
    endMerge(origin) {
      const merged = [...volumes.values()].find((one) => hidden.has(one.uuid) && isSnapshotOf(one, origin));
      alter(origin, { merging: false, ...(merged === undefined ? {} : { sizeBytes: merged.sizeBytes }) });
      if (merged !== undefined) {
        remove(merged);
      }
    },
    remove,
  };
}

/**
 * Derives `lv_attr` (lvs(8)) for the kinds that the sandbox supports; allocation is always inherited, and no device
 * number is fixed.
 */
function attributesOf({ kind, readOnly, active, open, merging }: SandboxVolume, isOrigin: boolean): string {
  const letter = { linear: "-", snapshot: "s", thinPool: "t", thinVolume: "V" }[kind as string] ?? "-";
  const isThin = kind === "thinPool" || kind === "thinVolume";
  const isInSnapshot = isOrigin || kind === "snapshot";
  return [
    merging ? "O" : isOrigin ? "o" : letter,
    readOnly ? "r" : "w",
    "i-",
    active ? "a" : "-",
    open ? "o" : "-",
    isThin ? "tz" : isInSnapshot ? "s-" : "--",
    "--",
  ].join("");
}

function isSnapshotOf(one: SandboxVolume, origin: SandboxVolume): boolean {
  return one.volumeGroupName === origin.volumeGroupName && one.originName === origin.name;
}
