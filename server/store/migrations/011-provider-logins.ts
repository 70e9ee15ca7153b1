import type { Kysely } from "kysely";
import type { ColumnTypes } from "./migration.ts";

/** Lets users belong to an identity provider, and creates the table of their sessions. */
export async function makeProviderLogins(
  db: Kysely<unknown>,
  { text, integer, bytes }: ColumnTypes,
): Promise<void> {
  await db.schema.alterTable("users").addColumn("provider", text).execute();
  await db.schema.alterTable("users").addColumn("subject", text).execute();
  await db.schema
    .createTable("provider_sessions")
    .addColumn("jti", text, (column) => column.primaryKey().notNull())
    .addColumn("user_id", text, (column) => column.notNull())
    .addColumn("provider", text, (column) => column.notNull())
    .addColumn("subject", text, (column) => column.notNull())
    .addColumn("sid", text)
    .addColumn("refresh_token_sealed", bytes, (column) => column.notNull())
    .addColumn("began_at", integer, (column) => column.notNull())
    .addColumn("checked_at", integer, (column) => column.notNull())
    .addColumn("lease_until", integer, (column) => column.notNull())
    .addColumn("expires_at", integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("provider_sessions_subject")
    .on("provider_sessions")
    .columns(["provider", "subject"])
    .execute();
  await db.schema
    .createIndex("provider_sessions_sid")
    .on("provider_sessions")
    .columns(["provider", "sid"])
    .execute();
  await db.schema
    .createIndex("provider_sessions_expires_at")
    .on("provider_sessions")
    .column("expires_at")
    .execute();
}
