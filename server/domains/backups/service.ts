import type { MessageInitShape } from "@bufbuild/protobuf";
import { BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import type { OperationSchema } from "../../../gen/hostplane/v1/operation_pb.ts";
import type { Operation } from "../../operations/operation.ts";
import { requesterFrom } from "../../rpc/call/requester.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { pageTokenFrom } from "../../rpc/listing/page-token.ts";
import { backupMessage, parseBackupId, parseBackupQuery, wantedFromRestore } from "./backup-messages.ts";
import type { Backups } from "./backups.ts";

/**
 * Creates hostplane.v1.BackupService, which manages stored backups.
 * @param operationMessage converts an operation to its published message
 */
export function createBackupService(
  backups: Backups,
  operationMessage: (operation: Operation) => MessageInitShape<typeof OperationSchema>,
): ServiceRegistration {
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
    async verifyBackup({ id, access }, call) {
      const operation = await backups.verify(parseBackupId(id), access, requesterFrom(call));
      return { operation: operationMessage(operation) };
    },
    async restoreBackup(request, call) {
      const id = parseBackupId(request.id);
      const operation = await backups.restore(
        id,
        wantedFromRestore(request),
        request.access,
        requesterFrom(call),
      );
      return { operation: operationMessage(operation) };
    },
    async deleteBackup({ id, access }, call) {
      const operation = await backups.remove(parseBackupId(id), access, requesterFrom(call));
      return { operation: operationMessage(operation) };
    },
  });
}
