import { answers, noOperation, type Row, refuses } from "./row.ts";

/** Calls for backups, in an order in which each call finds its resources. */
export const backupRows: readonly Row[] = [
  answers("hostplane.v1.BackupService/ListBackups", {}, {}),
  refuses(
    "hostplane.v1.BackupService/ListBackups",
    { pageToken: "?" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "page_token",
  ),
  ...["GetBackup", "VerifyBackup", "RestoreBackup", "DeleteBackup"].flatMap((name) => [
    refuses(`hostplane.v1.BackupService/${name}`, {}, "INVALID_ARGUMENT", "INVALID_FIELD", "id"),
    refuses(`hostplane.v1.BackupService/${name}`, { id: noOperation }, "NOT_FOUND", "BACKUP_NOT_FOUND"),
  ]),
];
