import { join } from "node:path";
import type { Expectations, StoreKind } from "./database-facts.ts";
import type { ProgramModules } from "./program.ts";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";
import type { GatewayTransactions, Store } from "./store.ts";
import type { StoreLog } from "./store-log.ts";
import type { StoreUser } from "./store-user.ts";

/** Options of `openStore`. */
export interface StoreOptions {
  /** `sqlite`, or the URL of a PostgreSQL database, `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Directory of SQLite's file `hostplane.db`. */
  readonly directory: string;
  readonly kind: StoreKind;
  /** Fingerprint of the master key that a new database is created with. */
  readonly keyCheck: string;
  /** Fingerprints of the other master keys. */
  readonly otherKeyChecks?: readonly string[];
  /** Create the database if there is none. Default: true. */
  readonly createIfMissing?: boolean;
  readonly log: StoreLog;
  /** The gateway that uses the store. Absent for other programs, which may run while gateways use the store. */
  readonly user?: StoreUser;
  /** The modules with the transactions and migrations. */
  readonly modules: ProgramModules;
}

/** Returns the database file of a data directory. */
export function databaseFile(directory: string): string {
  return join(directory, "hostplane.db");
}

/**
 * Opens the database of a gateway, creates it if there is none, and migrates it to this version of the program (an SQLite
 * database is first saved as `hostplane.db.before-<version>`).
 * @throws InfraError STORE_MISSING, STORE_IN_USE, STORE_KIND_MISMATCH, MASTER_KEY_MISMATCH, STORE_NEWER,
 * STORE_NOT_EMPTY, STORE_DAMAGED, STORE_UNAVAILABLE, BACKUP_REFUSED
 */
export async function openStore<T = GatewayTransactions>(options: StoreOptions): Promise<Store<T>> {
  const { url, directory, kind, keyCheck, log, modules, user } = options;
  const { otherKeyChecks = [], createIfMissing = true } = options;
  const expectations = (shownAs: string): Expectations => ({
    kind,
    keyCheck,
    otherKeyChecks,
    createIfMissing,
    shownAs,
  });
  if (url === "sqlite") {
    const file = databaseFile(directory);
    return openSqliteStore({ file, expectations: expectations(file), modules, log });
  }
  // Imported only here, because SQLite does not need the client and the query builder in this thread.
  const { openPostgresStore } = await import("./postgres/postgres-store.ts");
  return openPostgresStore({ url, expectations, modules, log, user });
}
