import type { RepositorySettings } from "../../../backups/repositories.ts";
import type { BackupSchedule } from "./backup-schedule.ts";

/** Where they are in the configuration. */
export const backupConfigKey = "volumes.backup";

/** What the configuration says of backups. */
export interface BackupSettings extends RepositorySettings {
  /** Share of a thick volume that may change while it is backed up. */
  readonly snapshotPercent: number;
  /** A younger backup is not deleted. */
  readonly minimumAgeHours: number;
  /** What is backed up without being asked for; absent: nothing. */
  readonly schedules?: readonly BackupSchedule[];
}
