import type { BackupSourceFacts } from "../../../../backups/backup-source.ts";
import { poolBackupKey as configKey } from "./backup-settings.ts";

/** Identifies volumes of the storage pool as a source of backups. */
export const poolBackupFacts: BackupSourceFacts = { resourceStart: "storagePool/", configKey };
