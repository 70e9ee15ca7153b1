import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { AccessFields, NamedRepository } from "../../../backups/repositories.ts";
import {
  describePlace,
  type RepositoryPlace,
  type RepositorySecrets,
} from "../../../backups/repository-place.ts";
import type { StoredBackupInput } from "../../../backups/stored-backup-run.ts";
import type { Json, Operation } from "../../../operations/operation.ts";
import type { OperationStarter } from "../../../operations/operations.ts";
import type { Asker } from "../../../rpc/asker.ts";
import type { BackupFilters, BackupRow } from "../../../store/backups.ts";
import { bytesPerGiB, sizeGbFromBytes } from "../size.ts";
import type { WantedCreate } from "../volume-changes.ts";
import type { BackupParts, Foreseen } from "./backup-parts.ts";
import { tooSmall } from "./fill-steps.ts";
import type { PlannedRestore, RestoreVolume } from "./restore-volume.ts";

type Starter = OperationStarter<StoredBackupInput, RepositorySecrets | null>;

/** Where access is given in the requests of hostplane.v1.BackupService. */
const prefix = "access.";

const hourMs = 3_600_000;

/** Backups that are written down, and what can be done with them. Every change is an operation, which `start` begins. */
export interface StoredBackups {
  /** Newest first. */
  list(
    filters: BackupFilters,
    page: { readonly belowSeq: number | undefined; readonly limit: number },
  ): Promise<{ readonly rows: readonly BackupRow[]; readonly nextSeq: number | undefined }>;
  /** @throws InfraError BACKUP_NOT_FOUND */
  get(id: string): Promise<BackupRow>;
  /** @throws InfraError BACKUP_NOT_FOUND, INVALID_FIELD, ENDPOINT_NOT_ALLOWED, REPOSITORY_NOT_FOUND, BUSY */
  verify(id: string, access: AccessFields | undefined, asker: Asker): Promise<Operation>;
  /** @throws InfraError as `verify`, and BACKUP_TOO_YOUNG */
  remove(id: string, access: AccessFields | undefined, asker: Asker): Promise<Operation>;
  /**
   * @param wanted its size may be 0: that of the backup, rounded up
   * @throws InfraError as `verify`, VOLUME_TOO_SMALL, and what CreateLV throws
   */
  restore(
    id: string,
    wanted: WantedCreate,
    access: AccessFields | undefined,
    asker: Asker,
  ): Promise<Operation>;
  /** Checks that `verify` could begin now. @throws InfraError as `verify` does */
  planVerify(id: string, access: AccessFields | undefined): Promise<BackupRow>;
  /** Checks that `remove` could begin now. @throws InfraError as `remove` does */
  planRemove(id: string, access: AccessFields | undefined): Promise<BackupRow>;
  /** What `restore` would begin now: nothing when it would join what is under way. @throws InfraError as `restore` does */
  planRestore(
    id: string,
    wanted: WantedCreate,
    access: AccessFields | undefined,
    signal: AbortSignal,
  ): Promise<Foreseen<PlannedRestore>>;
}

export function createStoredBackups(
  parts: Pick<BackupParts, "store" | "repositories" | "settings" | "host">,
  restoreVolume: RestoreVolume,
  starters: { readonly verify: Starter; readonly remove: Starter },
): StoredBackups {
  const { store, repositories, settings, host } = parts;

  async function get(id: string): Promise<BackupRow> {
    const row = await store.run("backups.get", { id });
    if (row === undefined) {
      throw new InfraError("BACKUP_NOT_FOUND", `there is no backup ${id}`, { resource: resourceOf(id) });
    }
    return row;
  }

  /** The repository of a backup, with what a request gives to open it. */
  function repositoryOf(row: BackupRow, access: AccessFields | undefined): NamedRepository {
    const place = placeOf(row);
    if (place.kind === "local" && row.host !== host) {
      throw new InfraError(
        "REPOSITORY_NOT_FOUND",
        `the backup is in ${describePlace(place)} of host ${row.host}: ask the gateway of that host`,
        { resource: resourceOf(row.id) },
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
    asker: Asker,
  ): Promise<Operation> {
    asker.noteResource(resourceOf(row.id));
    const { operation } = await starter.start({
      resource: resourceOf(row.id),
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

  async function planRemove(id: string, access: AccessFields | undefined): Promise<BackupRow> {
    const row = await get(id);
    repositoryOf(row, access);
    const { minimumAgeHours } = settings;
    const ageMs = Date.now() - row.at;
    if (ageMs < minimumAgeHours * hourMs) {
      const from = new Date(row.at + minimumAgeHours * hourMs).toISOString();
      throw new InfraError(
        "BACKUP_TOO_YOUNG",
        `backup ${row.name} is of ${new Date(row.at).toISOString()}, and can be deleted from ${from} on (\`volumes.backup.minimumAgeHours\` is ${minimumAgeHours})`,
        { resource: resourceOf(id), retryAfterMs: minimumAgeHours * hourMs - ageMs },
      );
    }
    return row;
  }

  async function planVerify(id: string, access: AccessFields | undefined): Promise<BackupRow> {
    const row = await get(id);
    repositoryOf(row, access);
    return row;
  }

  return {
    list: (filters, { belowSeq, limit }) => store.run("backups.list", { filters, belowSeq, limit }),
    get,
    planVerify,
    planRemove,

    async verify(id, access, asker) {
      const row = await planVerify(id, access);
      return begin(starters.verify, "verify", row, repositoryOf(row, access), asker);
    },

    async remove(id, access, asker) {
      const row = await planRemove(id, access);
      return begin(starters.remove, "delete", row, repositoryOf(row, access), asker);
    },

    async restore(id, wanted, access, asker) {
      const row = await get(id);
      const sized = largeEnough(row, wanted);
      return restoreVolume.begin(sized, repositoryOf(row, access), row.key_name, asker);
    },

    async planRestore(id, wanted, access, signal) {
      const row = await get(id);
      return restoreVolume.planBegin(largeEnough(row, wanted), repositoryOf(row, access), signal);
    },
  };
}

/** What errors and operations call a backup. */
function resourceOf(id: string): string {
  return `backups/${id}`;
}

/** Where a backup is. */
export function placeOf({ repository_json }: Pick<BackupRow, "repository_json">): RepositoryPlace {
  return JSON.parse(repository_json) as Json & RepositoryPlace;
}

/** @throws InfraError VOLUME_TOO_SMALL */
function largeEnough({ id, size_bytes }: BackupRow, wanted: WantedCreate): WantedCreate {
  const backupBytes = BigInt(size_bytes);
  const sizeGb = wanted.sizeGb === 0n ? sizeGbFromBytes(backupBytes) : wanted.sizeGb;
  if (sizeGb * bytesPerGiB < backupBytes) {
    throw tooSmall(resourceOf(id), backupBytes, sizeGb * bytesPerGiB);
  }
  return { ...wanted, sizeGb };
}
