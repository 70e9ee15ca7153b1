import type { Reason } from "../../adapters/host/define-reasons.ts";
import { resticReasons } from "../../adapters/restic/reasons.ts";
import { lvmBackupReasons } from "../lvm/reasons.ts";
import { backupReasons } from "./reasons.ts";

/** Reasons for which making, reading and deleting backups fails. */
export const reasonsOfBackups: readonly Reason[] = [
  ...Object.values(resticReasons),
  ...Object.values(backupReasons),
  lvmBackupReasons.SNAPSHOT_FULL,
];
