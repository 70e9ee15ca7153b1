import { InfraError } from "../../adapters/host/infra-error.ts";
import { resticReasons } from "../../adapters/restic/reasons.ts";
import { type CheckedOperation, registerLongChange } from "../domain/long-change.ts";
import type { Operations } from "../operations/operations.ts";
import type { BackupSourceChanges, StoredBackupRequest } from "./backup-source.ts";
import { createDeleteKind } from "./delete-kind.ts";
import { backupReasons } from "./reasons.ts";
import type { NamedRepository } from "./repositories.ts";
import { describePlace, placeOf, type RepositorySecrets } from "./repository-place.ts";
import type { BackupRow } from "./store/backups.ts";
import {
  planOfDeletion,
  planOfVerification,
  resourceOf,
  type StoredBackupPlan,
} from "./stored-backup-plans.ts";
import type { StoredBackupInput, StoredBackupTools } from "./stored-backup-run.ts";
import { createVerifyKind } from "./verify-kind.ts";

/** Changes of recorded backups that all sources share. */
export interface StoredBackups extends Pick<BackupSourceChanges, "verify" | "remove"> {
  /**
   * Returns the repository of a backup, with the secrets of a request; its selector is the snapshot.
   * @throws InfraError REPOSITORY_NOT_FOUND, INVALID_FIELD, ENDPOINT_NOT_ALLOWED
   */
  repositoryOf(request: StoredBackupRequest): NamedRepository;
}

export interface StoredBackupsOptions extends StoredBackupTools {
  readonly operations: Pick<Operations, "register">;
  /** Names of the operation kinds, e.g. `volumes.verifyBackup`. */
  readonly kindNames: { readonly verify: string; readonly remove: string };
  /** Configuration key of the backups, e.g. `volumes.backup`. */
  readonly configKey: string;
  /** Minimum age of a backup that may be deleted. */
  readonly minimumAgeHours: number;
  /** Name of this host. */
  readonly host: string;
}

/** Prefix of the access fields in requests of hostplane.v1.BackupService. */
const prefix = "access.";

const hourMs = 3_600_000;

/** Registers the operation kinds, so it must be called before `operations.begin`. */
export function createStoredBackups(options: StoredBackupsOptions): StoredBackups {
  const { restic, repositories, operations, kindNames, configKey, minimumAgeHours, host } = options;

  function repositoryOf({ row, access }: StoredBackupRequest): NamedRepository {
    const place = placeOf(row);
    if (place.kind === "local" && row.host !== host) {
      throw new InfraError(
        resticReasons.REPOSITORY_NOT_FOUND,
        `the backup is in ${describePlace(place)} on host ${row.host}: use the gateway of that host`,
        { resource: resourceOf(row) },
      );
    }
    const secrets = repositories.accessTo(place, access, row.key_name === null, prefix);
    return { place, secrets, selector: row.snapshot_id };
  }

  function operationOf(
    { row, secrets, place }: Pick<StoredBackupRequest, "row"> & NamedRepository,
    what: string,
    plan: StoredBackupPlan,
  ): CheckedOperation<StoredBackupInput, RepositorySecrets | null> {
    return {
      resource: resourceOf(row),
      backend: describePlace(place),
      input: {
        backupId: row.id,
        snapshotId: row.snapshot_id,
        fileName: row.volume.split("/").at(-1) ?? "",
        sizeBytes: row.size_bytes,
        place,
        keyName: row.key_name,
      },
      secrets,
      attachKey: `${what} ${row.id}`,
      ...plan,
    };
  }

  /** @throws InfraError BACKUP_TOO_YOUNG */
  function assertOldEnough(row: BackupRow): void {
    const ageMs = Date.now() - row.at;
    if (ageMs < minimumAgeHours * hourMs) {
      const from = new Date(row.at + minimumAgeHours * hourMs).toISOString();
      throw new InfraError(
        backupReasons.BACKUP_TOO_YOUNG,
        `backup ${row.name} was taken at ${new Date(row.at).toISOString()} and can be deleted from ${from} on (\`${configKey}.minimumAgeHours\` is ${minimumAgeHours})`,
        { resource: resourceOf(row), retryAfterMs: minimumAgeHours * hourMs - ageMs },
      );
    }
  }

  return {
    repositoryOf,
    verify: registerLongChange(operations, {
      kind: createVerifyKind(kindNames.verify, options),
      check: async (request: StoredBackupRequest) => {
        const { row } = request;
        return operationOf({ row, ...repositoryOf(request) }, "verify", planOfVerification(restic, row));
      },
    }),
    remove: registerLongChange(operations, {
      kind: createDeleteKind(kindNames.remove, options),
      check: async (request: StoredBackupRequest) => {
        const { row } = request;
        const named = repositoryOf(request);
        assertOldEnough(row);
        return operationOf({ row, ...named }, "delete", planOfDeletion(restic, row));
      },
    }),
  };
}
