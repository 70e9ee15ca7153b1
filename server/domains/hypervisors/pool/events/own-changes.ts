import {
  type Attribution,
  createOwnChangeLog,
  type OwnChangeLog,
} from "../../../../events/own-change-log.ts";
import type { StoragePool } from "../storage-pool.ts";

/** A change of the pool by an operation of this gateway. */
export interface OwnChange {
  readonly operationId: string;
  readonly effect: "grows" | "shrinks";
}

/** Distinguishes this gateway's changes of the pool, by their effects, from changes by others. */
export type OwnChanges = Pick<OwnChangeLog<OwnChange>, "during"> &
  Attribution<readonly OwnChange["effect"][], OwnChange>;

/** @param pool read to find out when a change is visible in its state */
export function createOwnChanges(pool: Pick<StoragePool, "read">): OwnChanges {
  const log = createOwnChangeLog<OwnChange>(() => pool.read());
  return {
    during: log.during,
    find: (effects, readAtMs) => log.find(({ effect }) => effects.includes(effect), readAtMs),
    forget: log.forget,
  };
}
