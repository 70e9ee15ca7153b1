import { sql } from "kysely";
import type { TransactionContext } from "./transaction.ts";

/**
 * Takes the next number of the counter `auth_version` for the rows that the transaction writes, and notifies
 * `auth`. Transactions that take one commit in the order of their numbers.
 */
export async function nextAuthVersion({ db, notify }: TransactionContext): Promise<number> {
  const { value } = await db
    .updateTable("meta")
    .set({ value: sql<string>`cast(cast(value as bigint) + 1 as text)` })
    .where("name", "=", "auth_version")
    .returning("value")
    .executeTakeFirstOrThrow();
  notify("auth");
  return Number(value);
}
