import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DeleteBackupRequest,
  RestoreBackupRequest,
  VerifyBackupRequest,
} from "../../../../gen/hostplane/v1/backup_pb.ts";
import type { OperationSchema } from "../../../../gen/hostplane/v1/operation_pb.ts";
import type { BackupSource, RestoreRequest, StoredBackupRequest } from "../../../backups/backup-source.ts";
import type { AccessFields } from "../../../backups/repositories.ts";
import { resourceOf } from "../../../backups/stored-backup-plans.ts";
import type { Change } from "../../../domain/change.ts";
import type { BeginnableChange } from "../../../domain/long-change.ts";
import type { Operation } from "../../../operations/operation.ts";
import { parseBackupId, specFromRestore } from "../backup-messages.ts";
import type { Backups } from "../backups.ts";

type OperationMessage = MessageInitShape<typeof OperationSchema>;
type StartedOperation = Promise<{ readonly operation: OperationMessage }>;

/** The changes of hostplane.v1.BackupService. Each is made by the source that the backup's volume belongs to. */
export interface BackupChanges {
  readonly verifyBackup: Change<VerifyBackupRequest, StartedOperation>;
  readonly deleteBackup: Change<DeleteBackupRequest, StartedOperation>;
  readonly restoreBackup: Change<RestoreBackupRequest, StartedOperation>;
}

/** @param operationMessage converts an operation to its published message */
export function createBackupChanges(
  backups: Pick<Backups, "find">,
  operationMessage: (operation: Operation) => OperationMessage,
): BackupChanges {
  /**
   * @param changeOf returns the change of a source
   * @param complete adds to the request what only this change has
   */
  function change<
    Message extends { readonly id: string; readonly access?: AccessFields | undefined },
    Request,
  >(
    changeOf: (source: BackupSource) => BeginnableChange<Request>,
    complete: (request: StoredBackupRequest, message: Message) => Request,
  ): Change<Message, StartedOperation> {
    async function find(message: Message) {
      const { row, source } = await backups.find(parseBackupId(message.id));
      return { row, source, request: complete({ row, access: message.access }, message) };
    }
    return {
      async plan(message, requester) {
        const { source, request } = await find(message);
        return changeOf(source).plan(request, requester);
      },
      async run(message, call) {
        const { row, source, request } = await find(message);
        call.noteResource(resourceOf(row));
        const { operation } = await changeOf(source).begin(request, call);
        return { operation: operationMessage(operation) };
      },
    };
  }

  return {
    verifyBackup: change<VerifyBackupRequest, StoredBackupRequest>(
      ({ verify }) => verify,
      (request) => request,
    ),
    deleteBackup: change<DeleteBackupRequest, StoredBackupRequest>(
      ({ remove }) => remove,
      (request) => request,
    ),
    restoreBackup: change<RestoreBackupRequest, RestoreRequest>(
      ({ restore }) => restore,
      (request, message) => ({ ...request, spec: specFromRestore(message) }),
    ),
  };
}
