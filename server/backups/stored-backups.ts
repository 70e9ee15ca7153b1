import { InfraError } from "../../adapters/host/infra-error.ts";
import { resticReasons } from "../../adapters/restic/reasons.ts";
import type { Operation } from "../operations/operation.ts";
import type { OperationStarter, Operations } from "../operations/operations.ts";
import type { Requester } from "../rpc/call/requester.ts";
import type { BackupSourceActions } from "./backup-source.ts";
import { createDeleteKind } from "./delete-kind.ts";
import { backupReasons } from "./reasons.ts";
import type { AccessFields, NamedRepository } from "./repositories.ts";
import { describePlace, placeOf, type RepositorySecrets } from "./repository-place.ts";
import type { BackupRow } from "./store/backups.ts";
import { planOfDeletion, planOfVerification, resourceOf } from "./stored-backup-plans.ts";
import type { StoredBackupInput, StoredBackupTools } from "./stored-backup-run.ts";
import { createVerifyKind } from "./verify-kind.ts";

/** Actions on recorded backups that all sources share. */
export interface StoredBackups
  extends Pick<BackupSourceActions, "verify" | "remove" | "planVerify" | "planRemove"> {
  /**
   * Returns the repository of a backup, with the secrets of a request; its selector is the snapshot.
   * @throws InfraError REPOSITORY_NOT_FOUND, INVALID_FIELD, ENDPOINT_NOT_ALLOWED
   */
  repositoryOf(row: BackupRow, access: AccessFields | undefined): NamedRepository;
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

type Starter = OperationStarter<StoredBackupInput, RepositorySecrets | null>;

/** Prefix of the access fields in requests of hostplane.v1.BackupService. */
const prefix = "access.";

const hourMs = 3_600_000;

/** Registers the operation kinds, so it must be called before `operations.begin`. */
export function createStoredBackups(options: StoredBackupsOptions): StoredBackups {
  const { restic, repositories, operations, kindNames, configKey, minimumAgeHours, host } = options;
  const starters = {
    verify: operations.register(createVerifyKind(kindNames.verify, options)),
    remove: operations.register(createDeleteKind(kindNames.remove, options)),
  };

  function repositoryOf(row: BackupRow, access: AccessFields | undefined): NamedRepository {
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

  async function begin(
    starter: Starter,
    what: string,
    row: BackupRow,
    { place, secrets }: NamedRepository,
    asker: Requester,
  ): Promise<Operation> {
    asker.noteResource(resourceOf(row));
    const { operation } = await starter.start({
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
      asker: { actor: asker.actor, accountId: asker.accountId, rpc: asker.rpc },
      attachKey: `${what} ${row.id}`,
    });
    asker.noteOperation(operation.id);
    return operation;
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

    verify: async (row, access, asker) =>
      begin(starters.verify, "verify", row, repositoryOf(row, access), asker),

    async remove(row, access, asker) {
      const named = repositoryOf(row, access);
      assertOldEnough(row);
      return begin(starters.remove, "delete", row, named, asker);
    },

    async planVerify(row, access) {
      repositoryOf(row, access);
      return planOfVerification(kindNames.verify, restic, row);
    },

    async planRemove(row, access) {
      repositoryOf(row, access);
      assertOldEnough(row);
      return planOfDeletion(kindNames.remove, restic, row);
    },
  };
}
