import type { TransactionContext } from "./transaction.ts";

/** After this time without a beat an instance's row is removed. */
const forgottenAfterMs = 24 * 60 * 60 * 1000;

/** The gateways that use the database. */
export const instanceTransactions = {
  /** Says that the instance is alive, and forgets those of which nothing was heard for a day. Returns the database's clock. */
  async "instances.beat"({ db, nowMs }: TransactionContext, args: { id: string; host: string }) {
    await db
      .insertInto("instances")
      .values({ id: args.id, host: args.host, started_at: nowMs, seen_at: nowMs })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ seen_at: nowMs }))
      .execute();
    await db
      .deleteFrom("instances")
      .where("seen_at", "<", nowMs - forgottenAfterMs)
      .execute();
    return { nowMs };
  },

  /** Removes the row of an instance that stops. */
  async "instances.leave"({ db }: TransactionContext, args: { id: string }) {
    await db.deleteFrom("instances").where("id", "=", args.id).execute();
  },
};
