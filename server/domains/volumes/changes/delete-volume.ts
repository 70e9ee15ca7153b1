import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import type { DeleteVolumeRequest } from "../../../../gen/hostplane/v1/volume_pb.ts";
import type { ReadingChange } from "../../../domain/short-change.ts";
import { findDeviceClass } from "../device-class.ts";
import { createRemoveVolume, type RemoveSpec } from "./remove-volume.ts";
import { assertChangeable, type VolumeChangeParts } from "./volume-change.ts";

/** The deletion of a volume, whose request is independent of the caller. */
export type DeleteVolume = ReadingChange<DeleteVolumeRequest, RemoveSpec, LvmState> & {
  parse(request: DeleteVolumeRequest): RemoveSpec;
};

/** volumes.remove: removes a volume, which must exist, and its data. */
export function createDeleteVolume(parts: VolumeChangeParts): DeleteVolume {
  return {
    ...createRemoveVolume(parts),
    /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD, VOLUME_PROTECTED */
    parse({ name, deviceClass: className }) {
      const deviceClass = findDeviceClass(parts.deviceClasses, className);
      assertChangeable(name, deviceClass);
      return { name, deviceClass, mustExist: true };
    },
  };
}
