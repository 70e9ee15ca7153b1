import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmState } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { operationOf } from "../../../backups/lvm/operation-marks.ts";
import { type DeviceClass, resolveClass, volumesOf } from "../device-class.ts";

/** What a client calls a volume: `data`, `vg0/data` or `volumeGroups/vg0/volumes/data`. */
export interface VolumeHandle {
  /** Undefined: of whatever device class. */
  readonly volumeGroup: string | undefined;
  readonly name: string;
}

/** Reads a handle; whether there is such a volume is another question. */
export function parseVolumeHandle(text: string): VolumeHandle {
  const [, volumeGroup, name] = /^(?:volumeGroups\/)?([^/]+)\/(?:volumes\/)?([^/]+)$/.exec(text) ?? [];
  return name === undefined ? { volumeGroup: undefined, name: text } : { volumeGroup, name };
}

/** The volumes of the device classes that a handle may mean: none of what an operation has made and not released. */
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

/** Resources of the volumes that a handle may have meant when they were there. */
export function resourcesByHandle(
  { volumeGroup, name }: VolumeHandle,
  deviceClasses: readonly DeviceClass[],
): string[] {
  const groups = new Set(deviceClasses.map((one) => one.volumeGroup));
  return [...groups]
    .filter((group) => volumeGroup === undefined || group === volumeGroup)
    .map((group) => volumeResource(group, name));
}

/** A handle that means more than one volume. */
export function ambiguousHandle(handle: string, resources: readonly string[]): InfraError {
  return new InfraError(
    "VOLUME_NOT_FOUND",
    `${handle} may be any of ${resources.join(", ")}: give one of these`,
  );
}

/** What errors, operations and events call a volume. */
export function resourceOf({ volumeGroupName, name }: LogicalVolume): string {
  return volumeResource(volumeGroupName, name);
}
