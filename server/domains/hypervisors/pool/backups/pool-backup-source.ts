import { describeSize } from "../../../../../adapters/host/describe-size.ts";
import { invalidField } from "../../../../../adapters/host/infra-error.ts";
import type { BackupSource, RestoreRequest, RestoreSpec } from "../../../../backups/backup-source.ts";
import { describePlace, placeOf, type RepositorySecrets } from "../../../../backups/repository-place.ts";
import { factsOfBackup } from "../../../../backups/stored-backup-plans.ts";
import type { StoredBackups } from "../../../../backups/stored-backups.ts";
import { type LongChange, registerLongChange } from "../../../../domain/long-change.ts";
import { listOpen } from "../../../../operations/list-open.ts";
import type { Operation } from "../../../../operations/operation.ts";
import type { Operations } from "../../../../operations/operations.ts";
import type { StoragePool } from "../storage-pool.ts";
import { poolBackupFacts } from "./backup-facts.ts";
import { poolVolumeResourceOf } from "./backup-run.ts";
import { createPoolRestoreKind, type PoolRestoreInput, type PoolRestoreTools } from "./restore-kind.ts";

export interface PoolBackupSourceOptions extends PoolRestoreTools {
  readonly stored: StoredBackups;
  readonly pool: Pick<StoragePool, "read">;
  readonly operations: Pick<Operations, "register" | "list" | "assertFree">;
  readonly host: string;
}

type Secrets = RepositorySecrets | null;

/** Creates the source of storage pool backups for hostplane.v1.BackupService, and registers the operation of a restore. */
export function createPoolBackupSource(options: PoolBackupSourceOptions): BackupSource {
  const { repositoryOf, ...changes } = options.stored;
  const restore = registerLongChange(options.operations, createRestoreToPool(options));
  return { ...poolBackupFacts, isOn: true, ...changes, restore };
}

/** Returns the operation that restores a backup to a new volume of the pool. A request joins the equal one in progress. */
function createRestoreToPool(
  options: PoolBackupSourceOptions,
): LongChange<RestoreRequest, PoolRestoreInput, Secrets> {
  const { stored, pool, restores, restic, refresh, operations, host } = options;
  const kind = createPoolRestoreKind(options);

  /** Returns the restore in progress for this backup and volume, even if its volume already exists. */
  async function running(
    backupId: string,
    resource: string,
    except: string | undefined,
  ): Promise<Operation | undefined> {
    const open = await listOpen(operations, { kind: kind.kind, resource, host, except });
    return open.find(({ input }) => (input as PoolRestoreInput).backupId === backupId);
  }

  return {
    kind,
    async check(request, { signal, operation }) {
      const { row, spec } = request;
      const { name } = spec;
      restores.assertName(name, "volume_name");
      assertNameOnly(spec);
      const resource = poolVolumeResourceOf(name);
      const joins = await running(row.id, resource, operation?.id);
      if (joins !== undefined) {
        return { joins };
      }
      const { place, secrets } = stored.repositoryOf(request);
      const { identity } = (await pool.read(signal, performance.now())).value;
      const { size_bytes: sizeBytes } = row;
      await operations.assertFree(resource, operation?.id);
      await restores.assertPossible({ name, sizeBytes }, { identity, signal });
      const step = (label: string, command: readonly string[] = []) => ({ name: label, command });
      const from = `the backup ${row.name} of ${row.volume} in ${describePlace(placeOf(row))}`;
      return {
        resource,
        backend: identity,
        input: {
          name,
          sizeBytes,
          identity,
          backupId: row.id,
          snapshotId: row.snapshot_id,
          fileName: row.volume.split("/").at(-1) ?? "",
          place,
          keyName: row.key_name,
        },
        secrets,
        attachKey: `${kind.kind} ${host} ${row.id} ${name}`,
        plan: {
          changes: [
            `the volume ${name} of ${describeSize(BigInt(sizeBytes))} is created in the storage pool, and filled from ${from}`,
          ],
          losses: [],
          facts: factsOfBackup(row),
        },
        steps: [
          step("locate"),
          step("create", restores.createCommand({ name, sizeBytes })),
          step("fill", restic.commandOf("restore")),
          step("publish"),
          step("unmark"),
          ...(refresh === undefined ? [] : [step("refresh", refresh.command)]),
        ],
      };
    },
  };
}

/** @throws InfraError INVALID_FIELD */
function assertNameOnly({ deviceClass, sizeGb, tags }: RestoreSpec): void {
  if (deviceClass !== "") {
    throw invalidField("device_class", "must be empty: backups of the storage pool are restored to the pool");
  }
  if (sizeGb !== 0n) {
    throw invalidField(
      "size_gb",
      "must be 0: a volume of the storage pool is restored with its original size",
    );
  }
  if (tags.length > 0) {
    throw invalidField("tags", "must be empty: volumes of the storage pool have no tags");
  }
}
