import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import type { LogicalVolume, LvmState } from "../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../adapters/lvm/names.ts";
import { operationOf } from "../../lvm/operation-marks.ts";
import { isProtected } from "../../lvm/volume-refusals.ts";

/** Reports whether a volume's name matches `volumes.protect`, the names that are never removed or resized. */
export type IsProtectedName = (name: string) => boolean;

/**
 * Rejects volumes that must not be resized.
 * @throws InfraError VOLUME_PROTECTED
 */
export function assertResizable(volume: LogicalVolume, isProtectedName: IsProtectedName): void {
  assertNotOfOperation(volume);
  if (isProtectedName(volume.name)) {
    throw isProtected(volume, "its name matches `volumes.protect`");
  }
  if (volume.kind === "snapshot") {
    throw isProtected(volume, "it is a copy-on-write snapshot, which has the size of its origin");
  }
}

/**
 * Rejects volumes that must not be removed; LVM checks again when the command runs. Only LVM checks whether the volume is
 * open: unmounting a file system emits no event, so the state may show a volume as open that was just closed.
 * @throws InfraError VOLUME_PROTECTED
 */
export function assertRemovable(
  volume: LogicalVolume,
  state: LvmState,
  isProtectedName: IsProtectedName,
): void {
  assertNotOfOperation(volume);
  if (isProtectedName(volume.name)) {
    throw isProtected(volume, "its name matches `volumes.protect`");
  }
  const snapshots = state.volumes.filter(
    (other) =>
      other.kind === "snapshot" &&
      other.volumeGroupName === volume.volumeGroupName &&
      other.originName === volume.name,
  );
  if (snapshots.length > 0) {
    const names = snapshots.map(({ name }) => name).join(", ");
    throw isProtected(volume, `it is the origin of ${names}, which would be removed with it`);
  }
}

/**
 * Rejects volumes that must not be renamed: a protected one would no longer be protected by its name.
 * @throws InfraError VOLUME_PROTECTED
 */
export function assertRenamable(volume: LogicalVolume, isProtectedName: IsProtectedName): void {
  assertNotOfOperation(volume);
  if (isProtectedName(volume.name)) {
    throw isProtected(volume, "its name matches `volumes.protect`");
  }
}

/**
 * Rejects growing an active volume that has copy-on-write snapshots, as LVM does.
 * @throws InfraError VOLUME_PROTECTED
 */
export function assertNoActiveOrigin(state: LvmState, volumeGroupName: string, name: string): void {
  const inGroup = state.volumes.filter((one) => one.volumeGroupName === volumeGroupName);
  const volume = inGroup.find((one) => one.name === name);
  const snapshot = inGroup.find(({ kind, originName }) => kind === "snapshot" && originName === name);
  if (volume?.active === true && snapshot !== undefined) {
    throw isProtected(volume, `it is the origin of ${snapshot.name}, and can grow only while it is inactive`);
  }
}

/**
 * Rejects removing a volume that is open in the given state. The state should have just been read.
 * @throws InfraError VOLUME_IN_USE
 */
export function assertClosed(state: LvmState, volumeGroupName: string, name: string): void {
  const isOpen = state.volumes.some(
    (one) => one.volumeGroupName === volumeGroupName && one.name === name && one.open,
  );
  if (isOpen) {
    throw new InfraError(hostReasons.VOLUME_IN_USE, `${volumeGroupName}/${name} is in use (open)`, {
      resource: volumeResource(volumeGroupName, name),
    });
  }
}

/** @throws InfraError VOLUME_PROTECTED for a volume that an operation created and will itself remove or release */
export function assertNotOfOperation(volume: LogicalVolume): void {
  const operationId = operationOf(volume);
  if (operationId !== undefined) {
    throw isProtected(
      volume,
      `it was created by operation ${operationId}: cancel that operation, or retry it if it has ended`,
    );
  }
}
