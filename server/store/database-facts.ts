import type { Kysely } from "kysely";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { storeReasons } from "./reasons.ts";
import type { Schema } from "./schema.ts";
import type { SqlDialect } from "./sql-dialect.ts";

/** Whether the database belongs to a sandbox. */
export type StoreKind = "sandbox" | "real";

/** Facts that a database records about itself. */
export interface DatabaseFacts {
  readonly kind: string;
  readonly keyCheck: string;
  /** Number of migrations that were applied. */
  readonly schemaVersion: number;
}

/** Expectations of the program that opens a database. */
export interface Expectations {
  readonly kind: StoreKind;
  /** Identifies the master key without revealing it. */
  readonly keyCheck: string;
  /** Create the database if there is none. */
  readonly createIfMissing: boolean;
  /** Name of the database in messages, without a password. */
  readonly shownAs: string;
}

/** Reads the facts that a database records about itself; undefined: it has no tables yet. */
export async function readDatabaseFacts(
  db: Kysely<Schema>,
  dialect: SqlDialect,
): Promise<DatabaseFacts | undefined> {
  if (!(await dialect.tableExists(db, "meta"))) {
    return undefined;
  }
  const rows = await db.selectFrom("meta").selectAll().execute();
  const values = new Map(rows.map(({ name, value }) => [name, value]));
  return {
    kind: values.get("kind") ?? "",
    keyCheck: values.get("key_check") ?? "",
    schemaVersion: Number(values.get("schema_version") ?? 0),
  };
}

/**
 * Checks that the program may use the database.
 * @throws InfraError STORE_MISSING, STORE_NEWER, STORE_KIND_MISMATCH, MASTER_KEY_MISMATCH
 */
export function assertDatabaseFacts(
  facts: DatabaseFacts | undefined,
  { kind, keyCheck, createIfMissing, shownAs }: Expectations,
  latestVersion: number,
): void {
  if (facts === undefined) {
    if (!createIfMissing) {
      throw storeMissing(shownAs);
    }
    return;
  }
  if (facts.schemaVersion > latestVersion) {
    throw new InfraError(
      storeReasons.STORE_NEWER,
      `The database ${shownAs} was used by a newer version of hostplane (schema version ${facts.schemaVersion}; this version supports ${latestVersion}). Start the newer version, or downgrade as described in docs/how-to/upgrade.md.`,
    );
  }
  if (facts.kind !== kind) {
    throw new InfraError(
      storeReasons.STORE_KIND_MISMATCH,
      `The database ${shownAs} belongs to a ${facts.kind} gateway, but this is a ${kind} gateway. Each needs its own database.`,
    );
  }
  if (facts.keyCheck !== keyCheck) {
    throw new InfraError(
      storeReasons.MASTER_KEY_MISMATCH,
      `The database ${shownAs} was created with the master key ${facts.keyCheck}, but the given key is ${keyCheck}. Use the key that the database was created with.`,
    );
  }
}

export function storeMissing(shownAs: string): InfraError {
  return new InfraError(
    storeReasons.STORE_MISSING,
    `There is no database at ${shownAs} yet; the first start of the gateway creates it.`,
  );
}
