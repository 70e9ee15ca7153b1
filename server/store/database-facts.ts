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
  /** Fingerprint of the master key in use. */
  readonly keyCheck: string;
  /** Fingerprints of earlier master keys that secrets may still need. */
  readonly oldKeyChecks: readonly string[];
  /** Number of migrations that were applied. */
  readonly schemaVersion: number;
}

/** Expectations of the program that opens a database. */
export interface Expectations {
  readonly kind: StoreKind;
  /** Fingerprint of the master key that a new database is created with. */
  readonly keyCheck: string;
  /** Fingerprints of the other master keys. */
  readonly otherKeyChecks: readonly string[];
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
    oldKeyChecks: await readOldKeyChecks(db, dialect),
    schemaVersion: Number(values.get("schema_version") ?? 0),
  };
}

async function readOldKeyChecks(db: Kysely<Schema>, dialect: SqlDialect): Promise<readonly string[]> {
  if (!(await dialect.tableExists(db, "old_master_keys"))) {
    return [];
  }
  const rows = await db.selectFrom("old_master_keys").select("fingerprint").execute();
  return rows.map(({ fingerprint }) => fingerprint);
}

/**
 * Checks that the program may use the database.
 * @throws InfraError STORE_MISSING, STORE_NEWER, STORE_KIND_MISMATCH, MASTER_KEY_MISMATCH
 */
export function assertDatabaseFacts(
  facts: DatabaseFacts | undefined,
  expectations: Expectations,
  latestVersion: number,
): void {
  const { kind, createIfMissing, shownAs } = expectations;
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
  assertMasterKeys(facts, expectations);
}

/** Checks that the program has every master key that the database needs. @throws InfraError MASTER_KEY_MISMATCH */
export function assertMasterKeys(
  { keyCheck, oldKeyChecks }: Pick<DatabaseFacts, "keyCheck" | "oldKeyChecks">,
  expectations: Pick<Expectations, "keyCheck" | "otherKeyChecks" | "shownAs">,
): void {
  const { shownAs } = expectations;
  const given = [expectations.keyCheck, ...expectations.otherKeyChecks];
  if (!given.includes(keyCheck)) {
    const words = given.length === 1 ? `key is ${given[0]}` : `keys are ${given.join(", ")}`;
    throw new InfraError(
      storeReasons.MASTER_KEY_MISMATCH,
      `The database ${shownAs} uses the master key ${keyCheck}, but the given ${words}. Use the key that the database was created with, or was last changed to.`,
    );
  }
  const missing = oldKeyChecks.filter((each) => !given.includes(each));
  if (missing.length > 0) {
    throw new InfraError(
      storeReasons.MASTER_KEY_MISMATCH,
      `Some secrets in the database ${shownAs} still need the replaced master key ${missing.join(", ")}, which was not given. Add its line to the key file again, and keep it until \`hostplane store key-status\` no longer lists it.`,
    );
  }
}

/** The error of commands that use a store but do not create it. @param shownAs its path or URL, without a password */
export function storeMissing(shownAs: string): InfraError {
  return new InfraError(
    storeReasons.STORE_MISSING,
    `There is no database at ${shownAs} yet; the first start of the gateway creates it.`,
  );
}
