import type { TransactionContext } from "./transaction.ts";

/** Whether the database answers. */
export const storeCheckTransactions = {
  /** Reads one row; returns how many migrations the database has had. */
  async "store.check"({ db }: TransactionContext, _args: Record<never, never>) {
    const { value } = await db
      .selectFrom("meta")
      .select("value")
      .where("name", "=", "schema_version")
      .executeTakeFirstOrThrow();
    return { schemaVersion: Number(value) };
  },
};
