import { resticReasons } from "../../../adapters/restic/reasons.ts";
import { reasonsOfBackups } from "../../backups/call-reasons.ts";
import { backupReasons } from "../../backups/reasons.ts";
import {
  type CallReasons,
  reasonsOfOperations,
  reasonsOfSystems,
  reasonsOfTools,
} from "../../domain/call-reasons.ts";

/** Reasons for which the calls of backups fail. */
export const backupCallReasons: CallReasons = {
  tables: [backupReasons, resticReasons],
  every: [...reasonsOfSystems, resticReasons.BACKUP_NOT_FOUND],
  change: [...reasonsOfOperations, ...reasonsOfTools, ...reasonsOfBackups],
};
