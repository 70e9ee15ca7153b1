import { type Kysely, sql } from "kysely";
import type { ColumnTypes } from "./migration.ts";

/** The columns with secrets, in the schema that this migration changes. */
const sealed = [
  ["signing_keys", "secret_sealed"],
  ["idempotency_keys", "result_sealed"],
  ["operations", "secrets_sealed"],
  ["repository_keys", "secret_sealed"],
  ["clusters", "secrets_sealed"],
  ["fleet_authority", "sealed"],
  ["fleet_membership", "sealed"],
  ["saved_plans", "request_sealed"],
  ["provider_sessions", "refresh_token_sealed"],
] as const;

/**
 * Creates the tables for changes of the master key, and lets each secret name its key: the first byte, the version 1, is replaced
 * by 2 and the fingerprint of the key.
 */
export async function nameMasterKeys(
  db: Kysely<unknown>,
  { text, integer, bytes }: ColumnTypes,
): Promise<void> {
  await db.schema
    .createTable("old_master_keys")
    .addColumn("fingerprint", text, (column) => column.primaryKey().notNull())
    .addColumn("replaced_at", integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("master_key_holders")
    .addColumn("instance_id", text, (column) => column.primaryKey().notNull())
    .addColumn("host", text, (column) => column.notNull())
    .addColumn("keys_json", text, (column) => column.notNull())
    .addColumn("seals_with", text, (column) => column.notNull())
    .addColumn("seen_at", integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("digest_keys")
    .addColumn("name", text, (column) => column.primaryKey().notNull())
    .addColumn("key_sealed", bytes, (column) => column.notNull())
    .execute();
  await sql`insert into meta (name, value) select 'store_id', value from meta where name = 'key_check'`.execute(
    db,
  );
  const { rows } = await sql<{ value: string }>`select value from meta where name = 'key_check'`.execute(db);
  const head = Uint8Array.of(2, ...Buffer.from(rows[0]?.value ?? "", "hex"));
  for (const [table, column] of sealed) {
    const old = sql.ref(column);
    await sql`
      update ${sql.table(table)} set ${old} = cast(cast(${head} as ${bytes}) || substr(${old}, 2) as ${bytes})
      where length(${old}) > 0
    `.execute(db);
  }
}
