import { createOwnChangeLog, type OwnChangeLog } from "../../../../events/own-change-log.ts";
import type { StoragePool } from "../storage-pool.ts";

/** A change of the pool by an operation of this gateway. */
export interface OwnChange {
  readonly operationId: string;
  readonly effect: "grows" | "shrinks";
}

/** Log that distinguishes this gateway's changes of the pool from changes by others. */
export type OwnChanges = OwnChangeLog<OwnChange>;

export function createOwnChanges(pool: Pick<StoragePool, "read">): OwnChanges {
  return createOwnChangeLog<OwnChange>(() => pool.read());
}
