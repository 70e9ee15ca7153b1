import { sql } from "kysely";
import type { TransactionContext } from "../../../store/transaction.ts";

/**
 * Increments the counter `auth_version`, notifies `auth`, and returns the number for the rows that the transaction writes.
 * Transactions that call this commit in the order of their numbers.
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
