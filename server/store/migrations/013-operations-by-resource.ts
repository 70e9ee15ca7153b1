import type { Kysely } from "kysely";

/** Indexes operations by their resource, by which lists are filtered: a page then reads only the operations of that resource. */
export async function indexOperationsByResource(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex("operations_resource").on("operations").columns(["resource", "seq"]).execute();
}
