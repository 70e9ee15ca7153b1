import type { Kysely } from "kysely";
import { InfraError } from "../../adapters/host/infra-error.ts";
import type { Schema } from "./schema.ts";
import type { SqlDialect } from "./sql-dialect.ts";

/** Whether the gateway of the database is a sandbox. */
export type StoreKind = "sandbox" | "real";

/** What a database says of itself. */
export interface DatabaseFacts {
  readonly kind: string;
  readonly keyCheck: string;
  /** How many migrations it has had. */
  readonly schemaVersion: number;
}

/** What the program that opens a database expects of it. */
export interface Expectations {
  readonly kind: StoreKind;
  /** Tells one master key from another without telling the key. */
  readonly keyCheck: string;
  /** Make the database when there is none. */
  readonly createIfMissing: boolean;
  /** The database as messages name it, without a password. */
  readonly shownAs: string;
}

/** Reads what the database says of itself; undefined: it has no tables yet. */
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
 * Throws STORE_MISSING, STORE_NEWER, STORE_KIND_MISMATCH or MASTER_KEY_MISMATCH when the program must not use
 * the database.
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
      "STORE_NEWER",
      `The database ${shownAs} was used by a newer version of hostplane (its tables are of version ${facts.schemaVersion}, this program knows ${latestVersion}). Start that version, or go back as docs/upgrade.md says.`,
    );
  }
  if (facts.kind !== kind) {
    throw new InfraError(
      "STORE_KIND_MISMATCH",
      `The database ${shownAs} is that of a ${facts.kind} gateway, and this is a ${kind} one. Each needs a database of its own.`,
    );
  }
  if (facts.keyCheck !== keyCheck) {
    throw new InfraError(
      "MASTER_KEY_MISMATCH",
      `The database ${shownAs} belongs to the master key ${facts.keyCheck}, and the given one is ${keyCheck}. Give the key that was used when the database was made.`,
    );
  }
}

export function storeMissing(shownAs: string): InfraError {
  return new InfraError(
    "STORE_MISSING",
    `There is no database at ${shownAs} yet; the first start of the gateway makes it.`,
  );
}
