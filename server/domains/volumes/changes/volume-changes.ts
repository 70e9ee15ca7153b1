import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { createNameMatch } from "../../../../adapters/host/name-match.ts";
import type { LogicalVolume } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import type {
  CreateLVSnapshotRequest,
  RemoveLVRequest,
  ResizeLVRequest,
} from "../../../../gen/lvmd/served/lvmd_pb.ts";
import type { Change, ChangeRequester } from "../../../domain/change.ts";
import { type DeviceClass, type LvcreateOptionClass, volumesOf } from "../device-class.ts";
import type { ShownVolume } from "../volume-messages.ts";
import type { Volumes } from "../volumes.ts";
import { type ChangeVolumesOptions, createChangeVolumes } from "./change-volumes.ts";
import { createCreateVolume, type NewVolume } from "./create-volume.ts";
import { createRemoveVolume } from "./remove-volume.ts";
import { createResizeVolume } from "./resize-volume.ts";
import { createSnapshotVolume } from "./snapshot-volume.ts";
import type { VolumeChangeParts, VolumeSpec } from "./volume-change.ts";

export interface VolumeChangesOptions extends ChangeVolumesOptions {
  readonly volumes: Volumes;
  readonly deviceClasses: readonly DeviceClass[];
  readonly lvcreateOptionClasses?: readonly LvcreateOptionClass[];
  /** Patterns of names that are never removed or resized. */
  readonly protect: readonly string[];
  readonly mounts?: VolumeChangeParts["mounts"];
}

/** The changes of the volumes of this host. */
export interface VolumeChanges {
  /** Creates a volume. If LVM cannot be read afterwards, the volume is returned as requested, without a device. */
  readonly create: Change<NewVolume, Promise<ShownVolume>, ChangeRequester>;
  /** Resizes a volume, and returns its size in bytes. */
  readonly resize: Change<ResizeLVRequest, Promise<bigint>, ChangeRequester>;
  readonly remove: Change<RemoveLVRequest, Promise<void>, ChangeRequester>;
  /** Takes a snapshot. Returns it as `create` does. */
  readonly snapshot: Change<CreateLVSnapshotRequest, Promise<ShownVolume>, ChangeRequester>;
}

/** @param options `protect`: patterns of the names of volumes that no change may touch */
export function createVolumeChanges(options: VolumeChangesOptions): VolumeChanges {
  const { volumes } = options;
  const parts = { ...options, isProtectedName: createNameMatch(options.protect) };
  const change = createChangeVolumes(options);

  /** Returns the volumes of a class after a change; undefined if LVM cannot be read, since the change itself succeeded. */
  async function readVolumes({ deviceClass }: VolumeSpec): Promise<readonly LogicalVolume[] | undefined> {
    const read = await volumes.resolve(deviceClass.name).catch(() => undefined);
    return read && volumesOf(read.resolved, read.snapshot.value);
  }

  /** Returns a new volume as LVM reports it. */
  async function created(
    spec: VolumeSpec & { readonly sizeBytes: bigint | undefined; readonly tags: readonly string[] },
  ): Promise<ShownVolume> {
    const { name, deviceClass, sizeBytes = 0n, tags } = spec;
    const { volumeGroup: volumeGroupName } = deviceClass;
    const listed = await readVolumes(spec);
    if (listed === undefined) {
      return { volumeGroupName, name, sizeBytes, tags, device: undefined, attributes: "" };
    }
    const volume = listed.find((each) => each.name === name);
    if (volume === undefined) {
      throw new InfraError(
        lvmReasons.VOLUME_NOT_FOUND,
        `${name} was created, but removed outside hostplane immediately afterwards`,
        { resource: volumeResource(volumeGroupName, name) },
      );
    }
    return volume;
  }

  return {
    create: change(createCreateVolume(parts), created),
    resize: change(createResizeVolume(parts), async (spec, { steps }) => {
      if (steps.length === 0) {
        volumes.notify();
      }
      const volume = (await readVolumes(spec))?.find(({ name }) => name === spec.name);
      return volume?.sizeBytes ?? spec.sizeBytes;
    }),
    remove: change(createRemoveVolume(parts), async () => {}),
    snapshot: change(createSnapshotVolume(parts), created),
  };
}
