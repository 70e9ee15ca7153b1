import { InfraError } from "../../adapters/host/infra-error.ts";
import { hostReasons } from "../../adapters/host/reasons.ts";
import type { LogicalVolume, LvmState, LvmStep, VolumeGroup } from "../../adapters/lvm/adapter.ts";
import { volumeGroupResource, volumeResource } from "../../adapters/lvm/names.ts";
import { lvmReasons } from "../../adapters/lvm/reasons.ts";
import { snapshotRoomBytes } from "../../adapters/lvm/snapshot-room.ts";
import { roundUpToExtents } from "./extents.ts";
import { lvmBackupReasons } from "./reasons.ts";
import type { ShownCommand } from "./shown-command.ts";
import { assertActive, assertWhole, isProtected } from "./volume-refusals.ts";

/** A snapshot to create. */
export interface SnapshotStepSpec {
  readonly volume: LogicalVolume;
  readonly group: VolumeGroup;
  readonly name: string;
  readonly tags: readonly string[];
  /** Share of a thick volume that may change before the snapshot is full. */
  readonly percent: number;
  /** Configuration key that contains `snapshotPercent`, e.g. `volumes.backup`. */
  readonly configKey: string;
  readonly shown: ShownCommand;
}

/**
 * Returns the step that creates a snapshot of a volume: a thin one for a thin volume, and copy-on-write for any other.
 * @throws InfraError VOLUME_PROTECTED, VOLUME_INACTIVE, VOLUME_GROUP_GONE, NO_SPACE
 */
export function snapshotStep(spec: SnapshotStepSpec): LvmStep {
  const { volume, group, name, tags, percent, configKey, shown } = spec;
  assertBackable(volume, shown);
  assertWhole(group);
  const step = {
    kind: "snapshot",
    volumeGroupName: group.name,
    name,
    originName: volume.name,
    tags,
  } as const;
  if (volume.thinPoolName !== undefined) {
    return step;
  }
  const roomBytes = roundUpToExtents(snapshotRoomBytes(volume.sizeBytes, percent), group.extentSizeBytes);
  if (group.freeBytes < roomBytes) {
    throw new InfraError(
      hostReasons.NO_SPACE,
      `not enough space for a snapshot of ${group.name}/${volume.name} on volume group ${group.name}: free=${group.freeBytes}, requested=${roomBytes} (\`${configKey}.snapshotPercent\` is ${percent})`,
      { resource: volumeGroupResource(group.name) },
    );
  }
  return { ...step, roomBytes };
}

/** @throws InfraError VOLUME_PROTECTED, VOLUME_INACTIVE */
function assertBackable(volume: LogicalVolume, shown: ShownCommand): void {
  if (volume.kind === "thinPool") {
    throw isProtected(volume, "it is a thin pool; its volumes can be backed up");
  }
  if (volume.kind === "snapshot") {
    throw isProtected(volume, `it is a snapshot; its origin ${volume.originName} can be backed up`);
  }
  // A copy-on-write snapshot is only active, and thus readable, while its origin is.
  if (volume.thinPoolName === undefined) {
    assertActive(volume, shown);
  }
}

/**
 * Checks that a snapshot still represents its volume.
 * @param configKey configuration key that contains `snapshotPercent`, e.g. `volumes.backup`
 * @throws InfraError SNAPSHOT_FULL, VOLUME_NOT_FOUND when it no longer exists
 */
export function assertSnapshotGood(
  state: LvmState,
  { volumeGroup, volume }: { readonly volumeGroup: string; readonly volume: string },
  { uuid, name }: { readonly uuid: string; readonly name: string },
  configKey: string,
): void {
  const found = state.volumes.find((one) => one.uuid === uuid);
  const resource = volumeResource(volumeGroup, volume);
  if (found === undefined) {
    throw new InfraError(
      lvmReasons.VOLUME_NOT_FOUND,
      `the snapshot ${volumeGroup}/${name} of ${volume} was removed outside hostplane`,
      { resource },
    );
  }
  if (found.health === "invalidSnapshot" || found.health === "failed") {
    throw new InfraError(
      lvmBackupReasons.SNAPSHOT_FULL,
      `the snapshot of ${volumeGroup}/${volume} overflowed during the backup: raise \`${configKey}.snapshotPercent\`, or back up the volume when less is written to it`,
      { resource },
    );
  }
}
