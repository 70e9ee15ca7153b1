import type { Kysely } from "kysely";
import type { ColumnTypes } from "./migration.ts";

/** Creates the table of the hubs that share a database. */
export async function makeHubs(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable("fleet_hubs")
    .addColumn("instance_id", text, (column) => column.primaryKey().notNull())
    .addColumn("name", text, (column) => column.notNull())
    .addColumn("addresses_json", text, (column) => column.notNull())
    .addColumn("host_ids_json", text, (column) => column.notNull())
    .addColumn("seen_at", integer, (column) => column.notNull())
    .execute();
}
