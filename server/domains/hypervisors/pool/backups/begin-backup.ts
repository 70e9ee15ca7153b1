import { describeSize } from "../../../../../adapters/host/describe-size.ts";
import type { RepositoryKeys } from "../../../../backups/repository-keys.ts";
import { describePlace, type RepositoryPlace } from "../../../../backups/repository-place.ts";
import { nothingToDo } from "../../../../backups/stored-backup-plans.ts";
import { listOpen } from "../../../../operations/list-open.ts";
import type { PlannedMutation } from "../../../../operations/mutation.ts";
import type { Operation } from "../../../../operations/operation.ts";
import type { OperationStarter, Operations } from "../../../../operations/operations.ts";
import type { Requester } from "../../../../rpc/call/requester.ts";
import type { StoragePool } from "../storage-pool.ts";
import { backupKindName } from "./backup-kind.ts";
import { assertReadable, listWhole, type PoolBackupInput, type PoolBackupTools } from "./backup-run.ts";

export interface BeginPoolBackupOptions
  extends Pick<PoolBackupTools, "volumes" | "restic" | "store" | "namesInMaking"> {
  readonly pool: Pick<StoragePool, "read">;
  readonly keys: RepositoryKeys;
  readonly place: RepositoryPlace;
  readonly operations: Pick<Operations, "list">;
  readonly host: string;
}

export interface BeginPoolBackup {
  /**
   * Begins a backup of the whole pool, or returns the operation in progress.
   * @throws InfraError STORAGE_VOLUME_NOT_FOUND if there is nothing to back up, VOLUME_INACTIVE, NO_SPACE,
   *   STORAGE_VOLUME_IN_USE, BUSY, and what reading the pool throws
   */
  begin(asker: Requester): Promise<{ readonly operation: Operation; readonly isNew: boolean }>;
  /** Returns what `begin` would do: nothing if it would join an operation in progress. @throws as `begin` */
  plan(signal: AbortSignal): Promise<PlannedMutation>;
}

const resource = "storagePool";

export function createBeginPoolBackup(
  { volumes, namesInMaking, restic, store, pool, keys, place, operations, host }: BeginPoolBackupOptions,
  starter: OperationStarter<PoolBackupInput, null>,
): BeginPoolBackup {
  async function findOpen(): Promise<Operation | undefined> {
    const [open] = await listOpen(operations, { kind: backupKindName, resource, host });
    return open;
  }

  /** Returns all volumes and the pool's identity. @throws InfraError if a volume cannot be read */
  async function look(signal: AbortSignal) {
    const { identity } = (await pool.read(signal, performance.now())).value;
    const all = await listWhole({ volumes, namesInMaking }, { identity, signal });
    assertReadable(all, volumes.poolName);
    return { identity, all };
  }

  async function isTaken(name: string): Promise<boolean> {
    const page = await store.run("backups.list", { filters: { name, host }, belowSeq: undefined, limit: 1 });
    return page.rows.length > 0;
  }

  /** Returns the name for the current second, or for the next second whose name is free. */
  async function freeName(): Promise<string> {
    for (let atMs = Date.now(); ; atMs += 1000) {
      const name = backupNameAt(atMs);
      if (!(await isTaken(name))) {
        return name;
      }
    }
  }

  return {
    async begin(asker) {
      asker.noteResource(resource);
      const open = await findOpen();
      // The pool is not checked while an operation is open, whose snapshots may leave no room for others. If that operation
      // ends before `start`, this is the input of a new one, which runs the checks itself.
      const { identity } = (open?.input as PoolBackupInput | undefined) ?? (await look(asker.signal));
      const input: PoolBackupInput = {
        name: await freeName(),
        identity,
        host,
        actor: asker.actor,
        place,
        keyName: await keys.ensure(place),
      };
      const begun = await starter.start({
        resource,
        backend: input.identity,
        input,
        secrets: null,
        asker: { actor: asker.actor, accountId: asker.accountId, rpc: asker.rpc },
        attachKey: `${backupKindName} ${host}`,
      });
      asker.noteOperation(begun.operation.id);
      return begun;
    },

    async plan(signal) {
      if ((await findOpen()) !== undefined) {
        return nothingToDo(backupKindName, resource);
      }
      const { identity, all } = await look(signal);
      const step = (name: string, command: readonly string[] = []) => ({ name, command });
      const size = (sizeBytes: number) => describeSize(BigInt(sizeBytes));
      return {
        kind: backupKindName,
        resource,
        backend: identity,
        plan: {
          changes: all.map(
            ({ name, sizeBytes }) =>
              `${volumes.poolName}/${name}, ${size(sizeBytes)}, is stored in ${describePlace(place)}, encrypted with the gateway's key`,
          ),
          losses: [],
        },
        steps: [
          step("open"),
          step("choose"),
          ...all.map(() => step("store", restic.commandOf("backup"))),
          step("verify"),
          step("record"),
          step("clean"),
        ],
        pointOfNoReturn: all.length + 3,
      };
    },
  };
}

/** Returns the name of backups that begin at a given time, for example `pool-20261121T144512Z`. */
export function backupNameAt(atMs: number): string {
  const second = new Date(atMs).toISOString().slice(0, "2026-11-21T14:45:12".length);
  return `pool-${second.replaceAll(/[-:]/g, "")}Z`;
}
