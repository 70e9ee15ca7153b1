import { InfraError, invalidField } from "../../../../../adapters/host/infra-error.ts";
import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { devicePathOf } from "../../../../../adapters/lvm/names.ts";
import type { FileSystemType, Mount } from "../../../../../adapters/mounts/adapter.ts";
import { mountReasons } from "../../../../../adapters/mounts/reasons.ts";
import type { NodeExpandVolumeRequest } from "../../../../../gen/csi/v1/csi_pb.ts";
import type { LocatedChange } from "../../../../domain/short-change.ts";
import type { Mutation } from "../../../../operations/mutation.ts";
import { isMountOf } from "../../changes/assert-unmounted.ts";
import { parseCapacityRange } from "../capacity-range.ts";
import { type ExpandCsiVolumeSpec, expansion, targetOfExpansion } from "../controller/expand-csi-volume.ts";
import type { CsiParts } from "../csi-parts.ts";
import { assertId, requireCsiVolume, resourceOfId } from "../csi-volume.ts";
import { isReadOnly, mountStepOf, visibleAt } from "./volume-mounts.ts";

/** A mounted volume to grow. */
export interface ExpandMountedSpec extends Omit<ExpandCsiVolumeSpec, "isBlock"> {
  readonly path: string;
}

/** NodeExpandVolume: grows a mounted volume if it is too small, and its file system to the size of the volume. */
export function createExpandMountedVolume(
  parts: CsiParts,
): LocatedChange<NodeExpandVolumeRequest, ExpandMountedSpec, LvmState> {
  const { deviceClasses, mounts } = parts;
  return {
    /** @throws InfraError INVALID_FIELD */
    parse({ volumeId: id, volumePath: path, capacityRange }) {
      assertId(id, "volume_id");
      if (path === "") {
        throw invalidField("volume_path", "must not be empty");
      }
      return { id, path, range: parseCapacityRange(capacityRange), found: undefined };
    },

    /** @throws InfraError VOLUME_NOT_FOUND */
    locate: (spec, state) => ({
      ...spec,
      found: requireCsiVolume(state, deviceClasses, "volume", spec.id),
    }),

    targetOf: targetOfExpansion,

    /** @throws InfraError VOLUME_NOT_FOUND, MOUNT_MISSING, VOLUME_PROTECTED, NO_SPACE, CSI_CAPACITY */
    async check({ id, path, range }, state) {
      const { volume } = requireCsiVolume(state, deviceClasses, "volume", id);
      const all = await mounts.mounts();
      const mounted = visibleAt(all, path);
      if (mounted === undefined || !isMountOf(mounted, volume)) {
        throw new InfraError(mountReasons.MOUNT_MISSING, `volume ${id} is not mounted at ${path}`, {
          resource: resourceOfId(id),
        });
      }
      const growth = expansion(parts, id, range, state);
      if (mounted.node !== undefined) {
        return growth;
      }
      const writable = all.find((mount) => isMountOf(mount, volume) && !isReadOnly(mount));
      if (writable === undefined || !isGrown(writable)) {
        throw new InfraError(
          mountReasons.MOUNT_MISSING,
          `volume ${id} is mounted read-only, so that its file system cannot grow`,
          { resource: resourceOfId(id) },
        );
      }
      const device = devicePathOf(volume.volumeGroupName, volume.name);
      const { fileSystem } = writable;
      const grow = mountStepOf(mounts, { kind: "grow", device, fileSystem, path: writable.path });
      return {
        ...growth,
        plan: {
          ...growth.plan,
          changes: [...growth.plan.changes, `the file system on ${id} grows to the size of the volume`],
        },
        steps: [...growth.steps, grow],
      } satisfies Mutation;
    },
  };
}

function isGrown(mount: Mount): mount is Mount & { readonly fileSystem: FileSystemType } {
  return mount.fileSystem === "ext4" || mount.fileSystem === "xfs";
}
