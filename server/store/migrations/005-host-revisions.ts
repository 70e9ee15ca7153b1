import type { Kysely } from "kysely";
import type { ColumnTypes } from "./migration.ts";

/** Counts the changes of each host of a fleet, so that a hub reads only those that have changed. */
export async function addHostRevisions(db: Kysely<unknown>, { integer }: ColumnTypes): Promise<void> {
  await db.schema
    .alterTable("fleet_hosts")
    .addColumn("revision", integer, (column) => column.notNull().defaultTo(0))
    .execute();
}
