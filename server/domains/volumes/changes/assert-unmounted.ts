import { isSameDevice } from "../../../../adapters/host/device-number.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import type { LogicalVolume } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import type { Mount, MountAdapter } from "../../../../adapters/mounts/adapter.ts";

/** Reports whether a mount is that of the volume's file system, or of its device node. */
export function isMountOf({ device, node = device }: Mount, volume: Pick<LogicalVolume, "device">): boolean {
  return isSameDevice(node, volume.device);
}

/**
 * Refuses to remove what is mounted or published. LVM only knows whether a device is open, which the mount of its node is not: LVM
 * would remove a published raw block device, and its mount would be left, which later could be that of another volume.
 * @throws InfraError VOLUME_IN_USE, MOUNTS_UNAVAILABLE
 */
export async function assertUnmounted(
  { mounts }: Pick<MountAdapter, "mounts">,
  volume: LogicalVolume,
): Promise<void> {
  const { volumeGroupName, name, device } = volume;
  const mounted = device === undefined ? undefined : (await mounts()).find((one) => isMountOf(one, volume));
  if (mounted !== undefined) {
    throw new InfraError(
      hostReasons.VOLUME_IN_USE,
      `${volumeGroupName}/${name} is mounted at ${mounted.path}`,
      { resource: volumeResource(volumeGroupName, name) },
    );
  }
}
