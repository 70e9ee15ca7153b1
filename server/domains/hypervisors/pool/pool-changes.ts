import { createOwnChangeLog, type OwnChangeLog } from "../../../events/own-change-log.ts";
import type { StoragePool } from "./storage-pool.ts";

/** A change of the pool that an operation of this gateway makes. */
export interface PoolChange {
  readonly operationId: string;
}

/** Tells this gateway's own changes of the pool from those of others. */
export type PoolChangeLog = OwnChangeLog<PoolChange>;

export function createPoolChanges(pool: Pick<StoragePool, "read">): PoolChangeLog {
  return createOwnChangeLog<PoolChange>(() => pool.read());
}
