import type {
  BackupService,
  DeleteBackupRequest,
  RestoreBackupRequest,
  VerifyBackupRequest,
} from "../../../../gen/hostplane/v1/backup_pb.ts";
import type { BackupSource, RestoreRequest, StoredBackupRequest } from "../../../backups/backup-source.ts";
import type { AccessFields } from "../../../backups/repositories.ts";
import { resourceOf } from "../../../backups/stored-backup-plans.ts";
import type { ChangesOf } from "../../../domain/change.ts";
import type { DomainContext } from "../../../domain/domain-services.ts";
import type { BeginnableChange } from "../../../domain/long-change.ts";
import type { PlanRequester } from "../../../operations/planner.ts";
import type { Call } from "../../../rpc/call/call.ts";
import { parseBackupId, specFromRestore } from "../backup-messages.ts";
import type { Backups } from "../backups.ts";

/** The changes of hostplane.v1.BackupService. Each is made by the source that the backup's volume belongs to. */
export type BackupChanges = ChangesOf<
  typeof BackupService,
  "verifyBackup" | "deleteBackup" | "restoreBackup"
>;

/** @param operationMessage converts the operation that a change begins, for its answer */
export function createBackupChanges(
  backups: Pick<Backups, "find">,
  operationMessage: DomainContext["operationMessage"],
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
  ) {
    async function find(message: Message) {
      const { row, source } = await backups.find(parseBackupId(message.id));
      return { row, source, request: complete({ row, access: message.access }, message) };
    }
    return {
      async plan(message: Message, requester: PlanRequester) {
        const { source, request } = await find(message);
        return changeOf(source).plan(request, requester);
      },
      async run(message: Message, call: Call) {
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
