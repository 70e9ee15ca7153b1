import { BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { handlersOf } from "../../domain/change.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { pageTokenFrom } from "../../rpc/listing/page-token.ts";
import { backupMessage, parseBackupId, parseBackupQuery } from "./backup-messages.ts";
import type { Backups } from "./backups.ts";
import type { BackupChanges } from "./changes/backup-changes.ts";

/** Creates hostplane.v1.BackupService, which manages stored backups. */
export function createBackupService(backups: Backups, changes: BackupChanges): ServiceRegistration {
  return registerService(BackupService, {
    async listBackups(request) {
      const query = parseBackupQuery(request);
      const { belowSeq, pageSize: limit } = query;
      const { rows, nextSeq } = await backups.list(query.filters, { belowSeq, limit });
      return {
        backups: rows.map(backupMessage),
        nextPageToken: nextSeq === undefined ? "" : pageTokenFrom(nextSeq, query.filters),
      };
    },
    async getBackup({ id }, call) {
      const row = await backups.get(parseBackupId(id));
      call.noteResource(`backups/${row.id}`);
      return { backup: backupMessage(row) };
    },
    ...handlersOf(changes),
  });
}
