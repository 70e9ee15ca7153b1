import type { TransactionContext } from "../../store/transaction.ts";

/** The removal of old operations. */
export const operationPurgeTransactions = {
  /**
   * Removes up to `limit` operations that ended more than `keepMs` ago, and returns their number. Operations that need
   * attention stay, without their secrets: they are the only record of what was left behind.
   */
  async "operations.purge"(
    { db, nowMs }: TransactionContext,
    { keepMs, limit }: { keepMs: number; limit: number },
  ) {
    const old = await db
      .selectFrom("operations")
      .select("id")
      .where("ended_at", "<", nowMs - keepMs)
      .where("state", "!=", "needsAttention")
      .limit(limit)
      .execute();
    const ids = old.map(({ id }) => id);
    if (ids.length > 0) {
      await db.deleteFrom("operation_commands").where("operation_id", "in", ids).execute();
      await db.deleteFrom("operation_steps").where("operation_id", "in", ids).execute();
      await db.deleteFrom("operations").where("id", "in", ids).execute();
    }
    await forgetSecrets(db, nowMs - keepMs);
    await db
      .deleteFrom("gateways")
      .where("seen_at", "<", nowMs - keepMs)
      .execute();
    return { count: ids.length };
  },
};

/** Erases the secrets of operations that have needed attention since before a time; they can no longer be retried. */
async function forgetSecrets(db: TransactionContext["db"], beforeMs: number): Promise<void> {
  await db
    .updateTable("operations")
    .set({ secrets_sealed: new Uint8Array() })
    .where("state", "=", "needsAttention")
    .where("ended_at", "<", beforeMs)
    .where("secrets_sealed", "is not", null)
    .execute();
}
