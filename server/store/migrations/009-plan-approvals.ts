import type { Kysely } from "kysely";
import type { ColumnTypes } from "./migration.ts";

/** Creates the table of the approvals of saved plans, and stores in the audit log who has approved a change. */
export async function makePlanApprovals(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { text, integer } = types;
  await types
    .createCountedTable(db, "plan_approvals", "seq")
    .addColumn("plan_id", text, (column) => column.notNull())
    .addColumn("account", text, (column) => column.notNull())
    .addColumn("person", text, (column) => column.notNull())
    .addColumn("actor", text, (column) => column.notNull())
    .addColumn("break_glass_reason", text)
    .addColumn("at", integer, (column) => column.notNull())
    .execute();
  for (const column of ["account", "person"]) {
    await db.schema
      .createIndex(`plan_approvals_${column}`)
      .on("plan_approvals")
      .columns(["plan_id", column])
      .unique()
      .execute();
  }
  await db.schema
    .alterTable("saved_plans")
    .addColumn("required_approvals", integer, (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .alterTable("saved_plans")
    .addColumn("request_digest", text, (column) => column.notNull().defaultTo(""))
    .execute();
  await db.schema.alterTable("audit_events").addColumn("plan_id", text).execute();
  await db.schema.alterTable("audit_events").addColumn("approved_by_json", text).execute();
}
