import { lvmReasons } from "../../../adapters/lvm/reasons.ts";
import { ofBackups } from "../../backups/call-reasons.ts";
import { ofLvmVolumes } from "../../backups/lvm/call-reasons.ts";
import { lvmBackupReasons } from "../../backups/lvm/reasons.ts";
import { type CallReasons, ofOperations, ofSystems, ofTools } from "../../domain/call-reasons.ts";
import { volumeReasons } from "./reasons.ts";

/** Reasons for which the calls of volumes fail. */
export const volumeCallReasons: CallReasons = {
  tables: [volumeReasons, lvmReasons, lvmBackupReasons],
  every: [...ofSystems, ...ofTools, volumeReasons.DEVICE_CLASS_NOT_FOUND, lvmReasons.VOLUME_GROUP_GONE],
  change: [...ofOperations, ...ofLvmVolumes, lvmReasons.SHRINK_NOT_ALLOWED, ...ofBackups],
  ofItsBackups: [...ofLvmVolumes, volumeReasons.DEVICE_CLASS_NOT_FOUND, lvmReasons.VOLUME_GROUP_GONE],
};
