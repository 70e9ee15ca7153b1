import { resticReasons } from "../../../adapters/restic/reasons.ts";
import { ofBackups } from "../../backups/call-reasons.ts";
import { backupReasons } from "../../backups/reasons.ts";
import { type CallReasons, ofOperations, ofSystems, ofTools } from "../../domain/call-reasons.ts";

/** Reasons for which the calls of backups fail. */
export const backupCallReasons: CallReasons = {
  tables: [backupReasons, resticReasons],
  every: [...ofSystems, resticReasons.BACKUP_NOT_FOUND],
  change: [...ofOperations, ...ofTools, ...ofBackups],
};
