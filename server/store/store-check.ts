import type { TransactionContext } from "./transaction.ts";

/** Checks whether the database answers. */
export const storeCheckTransactions = {
  /** Reads one row; returns the number of migrations applied. */
  async "store.check"({ db }: TransactionContext, _args: Record<never, never>) {
    const { value } = await db
      .selectFrom("meta")
      .select("value")
      .where("name", "=", "schema_version")
      .executeTakeFirstOrThrow();
    return { schemaVersion: Number(value) };
  },
};
