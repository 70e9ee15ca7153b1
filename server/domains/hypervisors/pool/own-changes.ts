import { createOwnChangeLog, type OwnChangeLog } from "../../../events/own-change-log.ts";
import type { StoragePool } from "./storage-pool.ts";

/** A change of the pool that an operation of this gateway makes. */
export interface OwnChange {
  readonly operationId: string;
  readonly effect: "grows" | "shrinks";
}

/** Tells this gateway's own changes of the pool from those of others. */
export type OwnChanges = OwnChangeLog<OwnChange>;

export function createOwnChanges(pool: Pick<StoragePool, "read">): OwnChanges {
  return createOwnChangeLog<OwnChange>(() => pool.read());
}
