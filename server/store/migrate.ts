import type { Kysely } from "kysely";
import type { DatabaseFacts, Expectations } from "./database-facts.ts";
import type { Migration } from "./migrations/migration.ts";
import type { Schema } from "./schema.ts";
import type { SqlDialect } from "./sql-dialect.ts";

/** Options of `migrate`. */
export interface MigrateOptions {
  /** Within a transaction that excludes the migrations of other gateways. */
  readonly db: Kysely<Schema>;
  readonly dialect: SqlDialect;
  readonly nowMs: number;
  readonly migrations: readonly Migration[];
  /** Undefined: the database is new. */
  readonly facts: DatabaseFacts | undefined;
  readonly expectations: Pick<Expectations, "kind" | "keyCheck">;
}

/**
 * Creates the tables or migrates them to the version of the program. Forward only.
 * @returns the version
 */
export async function migrate(options: MigrateOptions): Promise<number> {
  const { db, dialect, migrations, facts } = options;
  if (facts === undefined) {
    await makeMeta(options);
  }
  const from = facts?.schemaVersion ?? 0;
  for (const migration of migrations.slice(from)) {
    await migration(db as Kysely<unknown>, dialect);
  }
  if (migrations.length > from) {
    await db
      .updateTable("meta")
      .set({ value: String(migrations.length) })
      .where("name", "=", "schema_version")
      .execute();
  }
  return migrations.length;
}

async function makeMeta({ db, dialect, nowMs, expectations }: MigrateOptions): Promise<void> {
  await db.schema
    .createTable("meta")
    .addColumn("name", dialect.text, (column) => column.primaryKey().notNull())
    .addColumn("value", dialect.text, (column) => column.notNull())
    .execute();
  await db
    .insertInto("meta")
    .values([
      { name: "kind", value: expectations.kind },
      { name: "created_at", value: String(nowMs) },
      { name: "key_check", value: expectations.keyCheck },
      { name: "schema_version", value: "0" },
      { name: "auth_version", value: "0" },
    ])
    .execute();
}
