import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter } from "../../../../adapters/libvirt/adapter.ts";
import { type BeginnableChange, registerLongChange } from "../../../domain/long-change.ts";
import type { Operations } from "../../../operations/operations.ts";
import { createPoolBackups, type PoolBackups, type PoolBackupsOptions } from "./backups/pool-backups.ts";
import { createExpandPool } from "./changes/expand-pool.ts";
import { createLongPoolChange, type PoolChange } from "./changes/pool-change.ts";
import type { PoolRefresh } from "./changes/pool-run.ts";
import { createShrinkPool } from "./changes/shrink-pool.ts";
import { createOwnChanges, type OwnChanges } from "./events/own-changes.ts";
import type { StoragePool } from "./storage-pool.ts";

export interface SharedPoolOptions {
  readonly pool: StoragePool;
  /** libvirt and its storage pool on the shared one; undefined if there is none. */
  readonly shownBy:
    | { readonly libvirt: Pick<LibvirtAdapter, "run" | "commandOf">; readonly libvirtPool: string }
    | undefined;
  readonly operations: Operations;
  /** Name of this host. */
  readonly host: string;
  /** Options for backups of the pool; undefined if they are not configured. */
  readonly backup: Omit<PoolBackupsOptions, "pool" | "refresh" | "operations" | "host"> | undefined;
  /** Error for calls that need backups when these are not configured. */
  readonly backupRefusal: () => InfraError;
}

/** The storage pool that hypervisors share, with the operations that change it. */
export interface SharedPool {
  readonly pool: StoragePool;
  /** This gateway's own changes of the pool. */
  readonly own: OwnChanges;
  /** Expands the pool by at least so many bytes. @throws InfraError POOL_CANNOT_GROW, POOL_FIXED, BUSY */
  readonly expand: BeginnableChange<bigint>;
  /** Shrinks the pool by at most so many bytes. @throws InfraError POOL_CANNOT_SHRINK, POOL_FIXED, BUSY */
  readonly shrink: BeginnableChange<bigint>;
  /** Undefined if backups are not configured. */
  readonly backups: PoolBackups | undefined;
  /** Returns the backup of all volumes. @throws InfraError DOMAIN_OFF if backups are not configured */
  backUp(): BeginnableChange<unknown>;
}

/** Creates the shared pool and registers its operation kinds; must run before `operations.begin`. */
export function createSharedPool(options: SharedPoolOptions): SharedPool {
  const { pool, operations, host, backup, backupRefusal } = options;
  const own = createOwnChanges(pool);
  const refresh = refreshOf(options);
  const tools = { pool, changes: own, refresh };
  const register = (change: PoolChange) =>
    registerLongChange(operations, createLongPoolChange(options, change, refresh));
  const backups = backup && createPoolBackups({ ...backup, pool, refresh, operations, host });
  return {
    pool,
    own,
    expand: register(createExpandPool(tools)),
    shrink: register(createShrinkPool(tools)),
    backups,
    backUp() {
      if (backups === undefined) {
        throw backupRefusal();
      }
      return backups.backUp;
    },
  };
}

function refreshOf({ shownBy }: SharedPoolOptions): PoolRefresh | undefined {
  if (shownBy === undefined) {
    return undefined;
  }
  const { libvirt, libvirtPool } = shownBy;
  const step = { kind: "refreshPool", pool: libvirtPool } as const;
  return { poolName: libvirtPool, command: libvirt.commandOf(step), run: () => libvirt.run(step) };
}
