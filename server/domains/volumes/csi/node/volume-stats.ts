import type { MessageInitShape } from "@bufbuild/protobuf";
import { InfraError, invalidField } from "../../../../../adapters/host/infra-error.ts";
import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { lvmReasons } from "../../../../../adapters/lvm/reasons.ts";
import { faultOptions } from "../../../../../adapters/mounts/names.ts";
import {
  type NodeGetVolumeStatsRequest,
  type NodeGetVolumeStatsResponseSchema,
  VolumeUsage_Unit as Unit,
} from "../../../../../gen/csi/v1/csi_pb.ts";
import { isMountOf } from "../../changes/assert-unmounted.ts";
import type { CsiParts } from "../csi-parts.ts";
import { assertId, requireCsiVolume, resourceOfId } from "../csi-volume.ts";
import { conditionsIn } from "../volume-condition.ts";
import { isReadOnly, visibleAt } from "./volume-mounts.ts";

/**
 * Returns the use of a mounted volume, and its condition. A volume is abnormal if LVM reports a fault of it or of its thin pool,
 * or if its file system became read-only or was shut down after an error.
 * @throws InfraError INVALID_FIELD, VOLUME_NOT_FOUND, TOOL_FAILED
 */
export async function readVolumeStats(
  { deviceClasses, mounts }: CsiParts,
  { volumeId: id, volumePath: path }: NodeGetVolumeStatsRequest,
  state: LvmState,
): Promise<MessageInitShape<typeof NodeGetVolumeStatsResponseSchema>> {
  assertId(id, "volume_id");
  if (path === "") {
    throw invalidField("volume_path", "must not be empty");
  }
  const found = requireCsiVolume(state, deviceClasses, "volume", id);
  const all = await mounts.mounts();
  const mounted = visibleAt(all, path);
  if (mounted === undefined || !isMountOf(mounted, found.volume)) {
    throw new InfraError(lvmReasons.VOLUME_NOT_FOUND, `volume ${id} is not mounted at ${path}`, {
      resource: resourceOfId(id),
    });
  }
  const conditionOf = conditionsIn(state);
  if (mounted.node !== undefined) {
    return {
      usage: [{ unit: Unit.BYTES, total: found.volume.sizeBytes }],
      volumeCondition: conditionOf(found),
    };
  }
  const use = await mounts.use(path);
  const isWritable = all.some((mount) => isMountOf(mount, found.volume) && !isReadOnly(mount));
  const isFault = (option: string) => faultOptions.includes(option) && (option !== "ro" || isWritable);
  const isBroken = use.isShutDown || mounted.fileSystemOptions.some(isFault);
  return {
    usage: [
      { unit: Unit.BYTES, total: use.totalBytes, used: use.usedBytes, available: use.availableBytes },
      { unit: Unit.INODES, total: use.totalInodes, used: use.usedInodes, available: use.availableInodes },
    ],
    volumeCondition: isBroken
      ? {
          abnormal: true,
          message: `the file system on ${id} has failed and is no longer written to; see the kernel's log`,
        }
      : conditionOf(found),
  };
}
