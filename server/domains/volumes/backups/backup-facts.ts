import type { BackupSourceFacts } from "../../../backups/backup-source.ts";
import { backupConfigKey as configKey } from "./backup-settings.ts";

/** Identifies volumes of the device classes as a source of backups. */
export const volumeBackupFacts: BackupSourceFacts = { resourceStart: "volumeGroups/", configKey };
