import type { Kysely } from "kysely";
import type { ColumnTypes } from "./migration.ts";

/** Adds the grants of users and API tokens. */
export async function addGrants(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await db.schema.alterTable("users").addColumn("grants", text).execute();
  await db.schema.alterTable("api_tokens").addColumn("grants", text).execute();
}
