import type { RepositorySettings } from "../../../backups/repositories.ts";
import type { BackupSchedule } from "./schedules/backup-schedule.ts";

/** Path of the settings in the configuration. */
export const backupConfigKey = "volumes.backup";

/** Configuration of backups. */
export interface BackupSettings extends RepositorySettings {
  /** Share of a thick volume that may change while it is backed up, in percent. */
  readonly snapshotPercent: number;
  /** Backups younger than this are not deleted. */
  readonly minimumAgeHours: number;
  /** Schedules of automatic backups; absent: none. */
  readonly schedules?: readonly BackupSchedule[];
}
