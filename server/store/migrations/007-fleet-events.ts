import type { Kysely } from "kysely";
import type { ColumnTypes } from "./migration.ts";

/** Lets the event log hold the events of a hub's hosts, and creates the table of how far each host is followed. */
export async function makeFleetEvents(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .alterTable("events")
    .addColumn("fleet_host", text, (column) => column.notNull().defaultTo(""))
    .execute();
  await db.schema.alterTable("events").addColumn("fleet_host_at", integer).execute();
  await db.schema
    .createTable("fleet_followed_hosts")
    .addColumn("host_id", text, (column) => column.primaryKey().notNull())
    .addColumn("host", text, (column) => column.notNull())
    .addColumn("cursor", text, (column) => column.notNull())
    .addColumn("merged_at", integer)
    .addColumn("owner", text, (column) => column.notNull())
    .addColumn("lease_until", integer, (column) => column.notNull())
    .addColumn("is_lost", integer, (column) => column.notNull())
    .execute();
}
