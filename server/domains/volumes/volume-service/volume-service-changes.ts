import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { createNameMatch } from "../../../../adapters/host/name-match.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import type { VolumeService } from "../../../../gen/hostplane/v1/volume_pb.ts";
import type { ChangesOf } from "../../../domain/change.ts";
import { type ChangeVolumesOptions, createChangeVolumes } from "../changes/change-volumes.ts";
import { createCreateSnapshot } from "../changes/create-snapshot.ts";
import { createRenameVolume } from "../changes/rename-volume.ts";
import { createSetVolumeTags } from "../changes/set-volume-tags.ts";
import type { VolumeSpec } from "../changes/volume-change.ts";
import type { DeviceClass } from "../device-class.ts";
import { listVolumes } from "./volume-list.ts";

/** The changes of hostplane.v1.VolumeService. */
export type VolumeServiceChanges = ChangesOf<
  typeof VolumeService,
  "createSnapshot" | "renameVolume" | "setVolumeTags"
>;

export interface VolumeServiceChangesOptions extends ChangeVolumesOptions {
  readonly deviceClasses: readonly DeviceClass[];
  /** Patterns of names that are never removed, resized or renamed. */
  readonly protect: readonly string[];
}

/** Creates the changes of hostplane.v1.VolumeService. Each returns the volume as LVM reports it afterwards. */
export function createVolumeServiceChanges(options: VolumeServiceChangesOptions): VolumeServiceChanges {
  const { lvm, deviceClasses, protect } = options;
  const parts = { lvm, deviceClasses, isProtectedName: createNameMatch(protect) };
  const change = createChangeVolumes(options);

  async function respond({ name, deviceClass }: VolumeSpec) {
    const { name: className, volumeGroup } = deviceClass;
    const resource = volumeResource(volumeGroup, name);
    // The change is made; a failure to read LVM now must not fail the call.
    const read = await lvm.read().catch(() => undefined);
    if (read === undefined) {
      return { volume: { name, volumeGroup, deviceClass: className, resource } };
    }
    const volume = listVolumes(read.value, deviceClasses).find((one) => one.resource === resource);
    if (volume === undefined) {
      const message = `${name} was changed, but removed outside hostplane immediately afterwards`;
      throw new InfraError(lvmReasons.VOLUME_NOT_FOUND, message, { resource, effect: "done" });
    }
    return { volume };
  }

  return {
    createSnapshot: change(createCreateSnapshot(parts), respond),
    renameVolume: change(createRenameVolume(parts), ({ newName, deviceClass }) =>
      respond({ name: newName, deviceClass }),
    ),
    setVolumeTags: change(createSetVolumeTags(parts), respond),
  };
}
