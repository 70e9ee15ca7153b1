import { describeSize } from "../../../../../adapters/host/describe-size.ts";
import type { RepositoryKeys } from "../../../../backups/repository-keys.ts";
import { describePlace, type RepositoryPlace } from "../../../../backups/repository-place.ts";
import type { LongChange } from "../../../../domain/long-change.ts";
import { listOpen } from "../../../../operations/list-open.ts";
import type { Operations } from "../../../../operations/operations.ts";
import { factsOf } from "../../../../operations/plan-facts.ts";
import type { StoragePool } from "../storage-pool.ts";
import { createPoolBackupKind } from "./backup-kind.ts";
import { assertReadable, listWhole, type PoolBackupInput, type PoolBackupTools } from "./backup-run.ts";

export interface BackUpPoolOptions extends PoolBackupTools {
  readonly pool: Pick<StoragePool, "read">;
  readonly keys: RepositoryKeys;
  readonly place: RepositoryPlace;
  readonly operations: Pick<Operations, "list">;
  readonly host: string;
}

const resource = "storagePool";

/**
 * Returns the operation that backs up the whole pool. A request joins the one in progress, whose snapshots may leave no room
 * for others. Its `check` throws InfraError STORAGE_VOLUME_NOT_FOUND if there is nothing to back up, VOLUME_INACTIVE, NO_SPACE,
 * STORAGE_VOLUME_IN_USE, and what reading the pool throws.
 */
export function createBackUpPool(options: BackUpPoolOptions): LongChange<unknown, PoolBackupInput> {
  const { volumes, namesBeingRestored, restic, store, pool, keys, place, operations, host } = options;
  const kind = createPoolBackupKind(options);

  /** Returns all volumes and the pool's identity. @throws InfraError if a volume cannot be read */
  async function readWhole(signal: AbortSignal) {
    const { identity } = (await pool.read(signal, performance.now())).value;
    const all = await listWhole({ volumes, namesBeingRestored }, { identity, signal });
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
    kind,
    async check(_request, { signal, operation }) {
      const filters = { kind: kind.kind, resource, host, except: operation?.id };
      const [joins] = await listOpen(operations, filters);
      if (joins !== undefined) {
        return { joins };
      }
      const { identity, all } = await readWhole(signal);
      const step = (name: string, command: readonly string[] = []) => ({ name, command });
      return {
        resource,
        backend: identity,
        input: async ({ actor }): Promise<PoolBackupInput> => ({
          name: await freeName(),
          identity,
          host,
          actor,
          place,
          keyName: await keys.ensure(place),
        }),
        secrets: null,
        attachKey: `${kind.kind} ${host}`,
        plan: {
          changes: all.map(
            ({ name, sizeBytes }) =>
              `${volumes.poolName}/${name}, ${describeSize(BigInt(sizeBytes))}, is stored in ${describePlace(place)}, encrypted with the gateway's key`,
          ),
          losses: [],
          facts: all.flatMap(({ name, sizeBytes }) => factsOf(`${resource}/volumes/${name}`, { sizeBytes })),
        },
        steps: [
          step("open"),
          step("choose"),
          ...all.map(() => step("store", restic.commandOf("backup"))),
          step("verify"),
          step("record"),
          step("clean"),
        ],
      };
    },
  };
}

/** Returns the name of backups that begin at a given time, for example `pool-20261121T144512Z`. */
export function backupNameAt(atMs: number): string {
  const second = new Date(atMs).toISOString().slice(0, "2026-11-21T14:45:12".length);
  return `pool-${second.replaceAll(/[-:]/g, "")}Z`;
}
