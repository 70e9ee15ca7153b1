import { describeSize } from "../../../../../adapters/host/describe-size.ts";
import { invalidField } from "../../../../../adapters/host/infra-error.ts";
import type { BackupSource, WantedRestore } from "../../../../backups/backup-source.ts";
import type { AccessFields } from "../../../../backups/repositories.ts";
import { describePlace, placeOf, type RepositorySecrets } from "../../../../backups/repository-place.ts";
import type { BackupRow } from "../../../../backups/store/backups.ts";
import { nothingToDo } from "../../../../backups/stored-backup-plans.ts";
import type { StoredBackups } from "../../../../backups/stored-backups.ts";
import { listOpen } from "../../../../operations/list-open.ts";
import type { Operation } from "../../../../operations/operation.ts";
import type { OperationStarter, Operations } from "../../../../operations/operations.ts";
import type { StoragePool } from "../storage-pool.ts";
import { poolBackupFacts } from "./backup-facts.ts";
import { poolVolumeResourceOf } from "./backup-run.ts";
import { type PoolRestoreInput, type PoolRestoreTools, restoreKindName } from "./restore-kind.ts";

export interface PoolBackupSourceOptions extends Pick<PoolRestoreTools, "restores" | "restic" | "refresh"> {
  readonly stored: StoredBackups;
  readonly starter: OperationStarter<PoolRestoreInput, RepositorySecrets | null>;
  readonly pool: Pick<StoragePool, "read">;
  readonly operations: Pick<Operations, "list" | "assertFree">;
  readonly host: string;
}

/** Creates the source of storage pool backups for hostplane.v1.BackupService. */
export function createPoolBackupSource(options: PoolBackupSourceOptions): BackupSource {
  const { stored, starter, pool, restores, restic, refresh, operations, host } = options;
  const { repositoryOf, ...actions } = stored;

  /** Returns the restore in progress for this backup and volume, even if its volume already exists. */
  async function findOpen(row: BackupRow, resource: string): Promise<Operation | undefined> {
    const all = await listOpen(operations, { kind: restoreKindName, resource, host });
    return all.find(({ input }) => (input as PoolRestoreInput).backupId === row.id);
  }

  /** Checks that a restore is possible, and returns its input. */
  async function describe(
    row: BackupRow,
    { name }: WantedRestore,
    access: AccessFields | undefined,
    signal: AbortSignal,
  ) {
    const { place, secrets } = repositoryOf(row, access);
    const { identity } = (await pool.read(signal, performance.now())).value;
    const { size_bytes: sizeBytes } = row;
    await operations.assertFree(poolVolumeResourceOf(name));
    await restores.assertPossible({ name, sizeBytes }, { identity, signal });
    const input: PoolRestoreInput = {
      name,
      sizeBytes,
      identity,
      backupId: row.id,
      snapshotId: row.snapshot_id,
      fileName: row.volume.split("/").at(-1) ?? "",
      place,
      keyName: row.key_name,
    };
    return { input, secrets };
  }

  function assertWanted({ name, deviceClass, sizeGb, tags }: WantedRestore): void {
    restores.assertName(name, "volume_name");
    if (deviceClass !== "") {
      throw invalidField(
        "device_class",
        "must be empty: backups of the storage pool are restored to the pool",
      );
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

  return {
    ...poolBackupFacts,
    isOn: true,
    ...actions,

    async restore(row, wanted, access, asker) {
      assertWanted(wanted);
      const resource = poolVolumeResourceOf(wanted.name);
      asker.noteResource(resource);
      const open = await findOpen(row, resource);
      const { input, secrets } =
        open === undefined
          ? await describe(row, wanted, access, asker.signal)
          : { input: open.input as PoolRestoreInput, secrets: null };
      const { operation } = await starter.start({
        resource,
        backend: input.identity,
        input,
        secrets,
        asker: { actor: asker.actor, accountId: asker.accountId, rpc: asker.rpc },
        attachKey: `${restoreKindName} ${host} ${row.id} ${wanted.name}`,
      });
      asker.noteOperation(operation.id);
      return operation;
    },

    async planRestore(row, wanted, access, signal) {
      assertWanted(wanted);
      const resource = poolVolumeResourceOf(wanted.name);
      if ((await findOpen(row, resource)) !== undefined) {
        return nothingToDo(restoreKindName, resource);
      }
      const { input } = await describe(row, wanted, access, signal);
      const { name, sizeBytes } = input;
      const step = (label: string, command: readonly string[] = []) => ({ name: label, command });
      const from = `the backup ${row.name} of ${row.volume} in ${describePlace(placeOf(row))}`;
      return {
        kind: restoreKindName,
        resource,
        backend: input.identity,
        plan: {
          changes: [
            `the volume ${name} of ${describeSize(BigInt(sizeBytes))} is created in the storage pool, and filled from ${from}`,
          ],
          losses: [],
        },
        steps: [
          step("locate"),
          step("create", restores.createCommand({ name, sizeBytes })),
          step("fill", restic.commandOf("restore")),
          step("publish"),
          step("unmark"),
          ...(refresh === undefined ? [] : [step("refresh", refresh.command)]),
        ],
        pointOfNoReturn: 3,
      };
    },
  };
}
