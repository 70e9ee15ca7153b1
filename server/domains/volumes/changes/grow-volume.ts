import type { LvmAdapter, LvmState } from "../../../../adapters/lvm/adapter.ts";
import type { FileSystem } from "../../../../adapters/lvm/data/data-adapter.ts";
import { assertGrowable } from "../../../../adapters/lvm/data/growable.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import type { ResizeVolumeRequest } from "../../../../gen/hostplane/v1/volume_pb.ts";
import type { ShortChange } from "../../../domain/short-change.ts";
import { createShownCommand } from "../../../lvm/shown-command.ts";
import { assertActive } from "../../../lvm/volume-refusals.ts";
import { factsOf } from "../../../operations/plan-facts.ts";
import { assertResolved, findDeviceClass } from "../device-class.ts";
import { bytesFromSize } from "../size.ts";
import { createResizeVolume, type ResizeSpec } from "./resize-volume.ts";
import { assertChangeable, requireVolume, type VolumeChangeParts } from "./volume-change.ts";

/** A ResizeVolume request with what was found on the volume. */
export interface GrowRequest {
  readonly message: ResizeVolumeRequest;
  /** Undefined: none was found, or none is to grow. */
  readonly fileSystem: FileSystem | undefined;
}

interface GrowSpec extends ResizeSpec {
  readonly resizesFileSystem: boolean;
  readonly fileSystem: FileSystem | undefined;
}

/**
 * volumes.resize: grows a volume, then the file system on it if requested. If only the latter fails, the same request can be
 * repeated.
 */
export function createGrowVolume(
  parts: VolumeChangeParts & { readonly lvm: Pick<LvmAdapter, "run" | "commandOf" | "data"> },
): ShortChange<GrowRequest, GrowSpec, LvmState> {
  const resize = createResizeVolume(parts);
  const { data } = parts.lvm;
  const shown = createShownCommand(parts.lvm);
  return {
    ...resize,

    /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD, VOLUME_PROTECTED */
    parse({ message, fileSystem }) {
      const { name, deviceClass: className, sizeBytes, resizeFileSystem } = message;
      const deviceClass = findDeviceClass(parts.deviceClasses, className);
      assertChangeable(name, deviceClass);
      return {
        name,
        deviceClass,
        sizeBytes: bytesFromSize({ bytes: sizeBytes }),
        skipsShrinking: false,
        resizesFileSystem: resizeFileSystem,
        fileSystem,
      };
    },

    /**
     * @throws InfraError VOLUME_GROUP_GONE, VOLUME_NOT_FOUND, VOLUME_PROTECTED, SHRINK_NOT_ALLOWED, NO_SPACE, VOLUME_INACTIVE,
     * FILE_SYSTEM_NOT_RESIZABLE
     */
    check(spec, state) {
      const mutation = resize.check(spec, state);
      if (!spec.resizesFileSystem) {
        return mutation;
      }
      const volume = requireVolume(assertResolved(spec.deviceClass, state), state, spec.name);
      assertActive(volume, shown);
      const fileSystem = assertGrowable(volume, spec.fileSystem);
      const { plan, steps } = mutation;
      const { type, mountPoint } = fileSystem;
      const where =
        mountPoint === undefined ? "while it is not mounted" : `while it is mounted at ${mountPoint}`;
      const resource = volumeResource(volume.volumeGroupName, volume.name);
      return {
        ...mutation,
        plan: {
          ...plan,
          changes: [...plan.changes, `its ${type} file system grows to the size of the volume, ${where}`],
          facts: [
            ...plan.facts,
            ...factsOf(resource, { fileSystem: type, isMounted: mountPoint !== undefined }),
          ],
        },
        steps: [
          ...steps,
          {
            name: "growFileSystem",
            command: data.growCommandOf(volume, fileSystem),
            forward: () => data.growFileSystem(volume),
          },
        ],
      };
    },
  };
}
