import type { Kysely } from "kysely";
import type { ColumnTypes } from "./migration.ts";

/** Creates the table of saved plans, and stores the plan that an operation applies. */
export async function makeSavedPlans(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { text, integer, bytes } = types;
  await types
    .createCountedTable(db, "saved_plans", "seq")
    .addColumn("id", text, (column) => column.notNull().unique())
    .addColumn("owner", text, (column) => column.notNull())
    .addColumn("actor", text, (column) => column.notNull())
    .addColumn("method", text, (column) => column.notNull())
    .addColumn("request_sealed", bytes, (column) => column.notNull())
    .addColumn("request_json", text, (column) => column.notNull())
    .addColumn("plan_json", text, (column) => column.notNull())
    .addColumn("digest", text, (column) => column.notNull())
    .addColumn("lvmd", text, (column) => column.notNull())
    .addColumn("state", text, (column) => column.notNull())
    .addColumn("stale_because", text)
    .addColumn("operation_id", text)
    .addColumn("created_at", integer, (column) => column.notNull())
    .addColumn("expires_at", integer, (column) => column.notNull())
    .execute();
  await db.schema.createIndex("saved_plans_owner").on("saved_plans").columns(["owner", "seq"]).execute();
  await db.schema.createIndex("saved_plans_expires_at").on("saved_plans").column("expires_at").execute();
  await db.schema.alterTable("operations").addColumn("plan_id", text).execute();
  await db.schema.alterTable("operations").addColumn("plan_json", text).execute();
}
