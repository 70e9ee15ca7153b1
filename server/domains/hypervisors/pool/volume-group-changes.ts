import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LvmAdapter, LvmState } from "../../../../adapters/lvm/adapter.ts";
import type { PhysicalVolume } from "../../../../adapters/lvm/device-adapter.ts";
import { volumeGroupResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import type { LeavingDevice, StoragePool } from "./storage-pool.ts";
import { devicesOf, groupNamed, isSameDevice } from "./volume-group-state.ts";

export interface VolumeGroupChangesOptions {
  readonly lvm: LvmAdapter;
  readonly volumeGroup: string;
  /** Configured paths; no other device is ever touched. */
  readonly devices: readonly string[];
}

type Changes = Pick<
  StoragePool,
  "add" | "takeBack" | "leaving" | "reserve" | "moveAway" | "abortMove" | "remove" | "putBack"
>;

/** Creates the changes of a volume group. Each reads the current state first, and skips what is already done. */
export function createVolumeGroupChanges(options: VolumeGroupChangesOptions): Changes {
  const { lvm, volumeGroup, devices: configured } = options;

  /** @throws InfraError VOLUME_GROUP_GONE if the group is missing, or its UUID differs from `identity` */
  async function readState(identity: string): Promise<LvmState> {
    const { value } = await lvm.refresh();
    const { uuid } = groupNamed(value, volumeGroup);
    if (uuid !== identity) {
      const words = `volume group ${volumeGroup} has been replaced by another one (UUID ${uuid}, expected ${identity})`;
      throw new InfraError(lvmReasons.VOLUME_GROUP_GONE, words, {
        resource: volumeGroupResource(volumeGroup),
      });
    }
    return value;
  }

  /** Returns the devices of the group that have these configured paths. */
  async function inGroup(identity: string, paths: readonly string[]) {
    const state = await readState(identity);
    const facts = await lvm.devices(paths);
    return devicesOf(state, volumeGroup, facts).filter(({ configuredPath }) => configuredPath !== undefined);
  }

  async function byUuid(identity: string, { uuid }: LeavingDevice): Promise<PhysicalVolume | undefined> {
    return (await readState(identity)).physicalVolumes.find((one) => one.uuid === uuid);
  }

  /** Returns the device, if it is still in the group. */
  async function stillIn(identity: string, device: LeavingDevice): Promise<PhysicalVolume | undefined> {
    const found = await byUuid(identity, device);
    return found?.volumeGroupName === volumeGroup ? found : undefined;
  }

  async function takeOut({ path }: PhysicalVolume): Promise<void> {
    await lvm.runOnDevices({ kind: "takeDevice", volumeGroupName: volumeGroup, path });
  }

  async function makeFree({ path }: PhysicalVolume): Promise<void> {
    await lvm.runOnDevices({ kind: "freeDevice", volumeGroupName: volumeGroup, path });
  }

  async function add(identity: string, paths: readonly string[], isRepeated = false): Promise<bigint> {
    const other = paths.find((path) => !configured.includes(path));
    if (other !== undefined) {
      throw new InfraError(lvmReasons.DEVICE_NOT_USABLE, `${other} is not configured (any more)`);
    }
    const there = (await inGroup(identity, paths)).map(({ configuredPath }) => configuredPath);
    const missing = paths.filter((path) => !there.includes(path));
    if (missing.length > 0) {
      await lvm.runOnDevices({
        kind: "addDevices",
        volumeGroupName: volumeGroup,
        paths: missing,
        isRepeated,
      });
    }
    const added = await inGroup(identity, paths);
    return added.reduce((sum, { physicalVolume }) => sum + physicalVolume.sizeBytes, 0n);
  }

  async function freeIfLeft(identity: string, device: LeavingDevice): Promise<void> {
    const left = await byUuid(identity, device);
    if (left !== undefined && left.volumeGroupName === undefined) {
      await makeFree(left);
    }
  }

  return {
    add,

    async takeBack(identity, paths) {
      for (const { physicalVolume } of await inGroup(identity, paths)) {
        await takeOut(physicalVolume);
      }
      // None of them belonged to LVM when they were chosen, and a physical volume without a group holds no data.
      const facts = await lvm.devices(paths);
      const { physicalVolumes } = await readState(identity);
      for (const one of physicalVolumes) {
        if (one.volumeGroupName === undefined && facts.some((device) => isSameDevice(device, one))) {
          await makeFree(one);
        }
      }
    },

    async leaving(identity, paths) {
      const found = await inGroup(identity, paths);
      return paths.map((path) => {
        const device = found.find(({ configuredPath }) => configuredPath === path)?.physicalVolume;
        if (device === undefined) {
          throw new InfraError(
            lvmReasons.DEVICE_NOT_USABLE,
            `${path} is not in the volume group ${volumeGroup}`,
          );
        }
        const { uuid, allocatable, usedBytes } = device;
        return { path, uuid, allocatable, usedBytes: Number(usedBytes) };
      });
    },

    async reserve(identity, devices, isReserved) {
      for (const device of devices) {
        const found = await stillIn(identity, device);
        const allocatable = isReserved ? false : device.allocatable;
        if (found !== undefined && found.allocatable !== allocatable) {
          const at = { volumeGroupName: volumeGroup, path: found.path };
          await lvm.runOnDevices({ kind: "setAllocatable", ...at, allocatable });
        }
      }
    },

    async moveAway(identity, devices, signal, onProgress) {
      const totalBytes = devices.reduce((sum, { usedBytes }) => sum + usedBytes, 0);
      let doneBytes = 0;
      for (const [index, device] of devices.entries()) {
        const found = await stillIn(identity, device);
        const usedBytes = Number(found?.usedBytes ?? 0n);
        if (found !== undefined && usedBytes > 0) {
          const message = `moving data away from ${device.path} (device ${index + 1} of ${devices.length})`;
          const before = doneBytes + Math.max(0, device.usedBytes - usedBytes);
          const onPercent = (percent: number) =>
            onProgress({ message, doneBytes: before + Math.round((usedBytes * percent) / 100), totalBytes });
          onPercent(0);
          const step = { kind: "moveAway", volumeGroupName: volumeGroup, path: found.path } as const;
          await lvm.runOnDevices(step, { signal, onPercent });
          await assertEmpty(identity, device);
        }
        doneBytes += device.usedBytes;
      }
    },

    async abortMove(identity, devices) {
      for (const device of devices) {
        const found = await stillIn(identity, device);
        if (found !== undefined && found.usedBytes > 0n) {
          await lvm.runOnDevices({ kind: "abortMove", volumeGroupName: volumeGroup, path: found.path });
        }
      }
    },

    async remove(identity, devices) {
      for (const device of devices) {
        const found = await stillIn(identity, device);
        if (found !== undefined) {
          await takeOut(found);
        }
        await freeIfLeft(identity, device);
      }
    },

    async putBack(identity, devices) {
      for (const device of devices) {
        await freeIfLeft(identity, device);
      }
      await add(
        identity,
        devices.map(({ path }) => path),
        // The devices belonged to the group; an earlier run may have been interrupted.
        true,
      );
    },
  };

  async function assertEmpty(identity: string, device: LeavingDevice): Promise<void> {
    const usedBytes = (await stillIn(identity, device))?.usedBytes ?? 0n;
    if (usedBytes > 0n) {
      const words = `${device.path} still holds ${usedBytes} bytes: the move was aborted outside hostplane, or LVM cannot move all of its data`;
      throw new InfraError(lvmReasons.POOL_CANNOT_SHRINK, words, { resource: "storagePool" });
    }
  }
}
