import type { Kysely } from "kysely";
import type { ColumnTypes } from "./migration.ts";

/** Creates the tables of a hub (authority, tokens, hosts) and of an agent (membership). */
export async function makeFleet(db: Kysely<unknown>, { text, integer, bytes }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable("fleet_authority")
    .addColumn("id", integer, (column) => column.primaryKey().notNull())
    .addColumn("sealed", bytes, (column) => column.notNull())
    .addColumn("created_at", integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("fleet_tokens")
    .addColumn("code_hash", bytes, (column) => column.primaryKey().notNull())
    .addColumn("host", text)
    .addColumn("labels_json", text, (column) => column.notNull())
    .addColumn("created_by", text, (column) => column.notNull())
    .addColumn("created_at", integer, (column) => column.notNull())
    .addColumn("expires_at", integer, (column) => column.notNull())
    .addColumn("used_at", integer)
    .execute();
  await db.schema
    .createTable("fleet_hosts")
    .addColumn("name", text, (column) => column.primaryKey().notNull())
    .addColumn("id", text, (column) => column.notNull().unique())
    .addColumn("labels_json", text, (column) => column.notNull())
    .addColumn("joined_at", integer, (column) => column.notNull())
    .addColumn("certificate_expires_at", integer, (column) => column.notNull())
    .addColumn("last_seen_at", integer)
    .addColumn("report_json", text)
    .execute();
  await db.schema
    .createTable("fleet_membership")
    .addColumn("id", integer, (column) => column.primaryKey().notNull())
    .addColumn("sealed", bytes, (column) => column.notNull())
    .addColumn("joined_at", integer, (column) => column.notNull())
    .execute();
}
