import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmState } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import { operationOf } from "../../../lvm/operation-marks.ts";
import { type DeviceClass, resolveClass, volumesOf } from "../device-class.ts";

/** A client's reference to a volume: `data`, `vg0/data` or `volumeGroups/vg0/volumes/data`. */
export interface VolumeHandle {
  /** Undefined: the group of any device class. */
  readonly volumeGroup: string | undefined;
  readonly name: string;
}

/** Parses a handle without checking that the volume exists. */
export function parseVolumeHandle(text: string): VolumeHandle {
  const [, volumeGroup, name] = /^(?:volumeGroups\/)?([^/]+)\/(?:volumes\/)?([^/]+)$/.exec(text) ?? [];
  return name === undefined ? { volumeGroup: undefined, name: text } : { volumeGroup, name };
}

/** Returns the volumes of the device classes that match a handle, except those that an operation has not released yet. */
export function volumesByHandle(
  { volumeGroup, name }: VolumeHandle,
  deviceClasses: readonly DeviceClass[],
  state: LvmState,
): LogicalVolume[] {
  const served = deviceClasses.flatMap((deviceClass) => {
    const resolved = resolveClass(deviceClass, state);
    return resolved === undefined ? [] : volumesOf(resolved, state);
  });
  return [...new Set(served)].filter(
    (volume) =>
      volume.name === name &&
      (volumeGroup === undefined || volume.volumeGroupName === volumeGroup) &&
      operationOf(volume) === undefined,
  );
}

/** Returns the resources that a handle may refer to, whether or not the volumes still exist. */
export function resourcesByHandle(
  { volumeGroup, name }: VolumeHandle,
  deviceClasses: readonly DeviceClass[],
): string[] {
  const groups = new Set(deviceClasses.map((one) => one.volumeGroup));
  return [...groups]
    .filter((group) => volumeGroup === undefined || group === volumeGroup)
    .map((group) => volumeResource(group, name));
}

/** Creates the error for a handle that matches more than one volume. */
export function ambiguousHandle(handle: string, resources: readonly string[]): InfraError {
  return new InfraError(
    lvmReasons.VOLUME_NOT_FOUND,
    `${handle} is ambiguous: use one of ${resources.join(", ")}`,
  );
}

/** Returns the resource name of a volume, as used in errors, operations and events. */
export function resourceOf({ volumeGroupName, name }: LogicalVolume): string {
  return volumeResource(volumeGroupName, name);
}
