import { lvmReasons } from "../../../adapters/lvm/reasons.ts";
import { mountReasons } from "../../../adapters/mounts/reasons.ts";
import { reasonsOfBackups } from "../../backups/call-reasons.ts";
import {
  type CallReasons,
  reasonsOfOperations,
  reasonsOfSystems,
  reasonsOfTools,
} from "../../domain/call-reasons.ts";
import { reasonsOfLvmVolumes } from "../../lvm/call-reasons.ts";
import { lvmBackupReasons } from "../../lvm/reasons.ts";
import { csiReasons } from "./csi/reasons.ts";
import { volumeReasons } from "./reasons.ts";

/** Reasons for which the calls of volumes fail. */
export const volumeCallReasons: CallReasons = {
  tables: [volumeReasons, lvmReasons, lvmBackupReasons, mountReasons, csiReasons],
  every: [
    ...reasonsOfSystems,
    ...reasonsOfTools,
    volumeReasons.DEVICE_CLASS_NOT_FOUND,
    lvmReasons.VOLUME_GROUP_GONE,
  ],
  change: [
    ...reasonsOfOperations,
    ...reasonsOfLvmVolumes,
    lvmReasons.SHRINK_NOT_ALLOWED,
    lvmReasons.FILE_SYSTEM_NOT_RESIZABLE,
    volumeReasons.NOT_A_SNAPSHOT,
    lvmBackupReasons.SNAPSHOT_FULL,
    ...reasonsOfBackups,
  ],
  ofItsBackups: [...reasonsOfLvmVolumes, volumeReasons.DEVICE_CLASS_NOT_FOUND, lvmReasons.VOLUME_GROUP_GONE],
};
