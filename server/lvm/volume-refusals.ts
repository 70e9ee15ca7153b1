import { InfraError } from "../../adapters/host/infra-error.ts";
import type { LogicalVolume, VolumeGroup } from "../../adapters/lvm/adapter.ts";
import { volumeGroupResource, volumeResource } from "../../adapters/lvm/names.ts";
import { lvmReasons } from "../../adapters/lvm/reasons.ts";
import { lvmBackupReasons } from "./reasons.ts";
import type { ShownCommand } from "./shown-command.ts";

/**
 * Refuses to create or grow volumes in a group with missing disks: `Cannot change VG vg0 while PVs are missing`.
 * @throws InfraError VOLUME_GROUP_GONE
 */
export function assertWhole({ name, missingPvCount }: VolumeGroup): void {
  if (missingPvCount > 0) {
    const message = `volume group ${name} lacks ${missingPvCount} of its physical volumes`;
    throw new InfraError(lvmReasons.VOLUME_GROUP_GONE, message, { resource: volumeGroupResource(name) });
  }
}

/** Refuses a volume without a block device. @throws InfraError VOLUME_INACTIVE */
export function assertActive({ volumeGroupName, name, active }: LogicalVolume, shown: ShownCommand): void {
  if (!active) {
    const command = shown(["lvchange", "-ay", `${volumeGroupName}/${name}`]);
    throw new InfraError(
      lvmBackupReasons.VOLUME_INACTIVE,
      `${volumeGroupName}/${name} is not active, so it has no block device; activate it with ${command}`,
      { resource: volumeResource(volumeGroupName, name) },
    );
  }
}

/** Returns the error for a volume that must not be changed. */
export function isProtected(volume: { volumeGroupName: string; name: string }, why: string): InfraError {
  return new InfraError(
    lvmReasons.VOLUME_PROTECTED,
    `${volume.volumeGroupName}/${volume.name} is protected: ${why}`,
    {
      resource: volumeResource(volume.volumeGroupName, volume.name),
    },
  );
}
