import type { TransactionContext } from "../../store/transaction.ts";

/** Locks on the creation of backup repositories: two concurrent creations would damage a repository. */
export const repositoryMakingTransactions = {
  /**
   * Claims the creation of a repository until the lease ends. The same owner may claim it again.
   * @returns `ok`: whether the owner has the claim
   */
  async "repositoryMakings.claim"(
    { db, nowMs }: TransactionContext,
    { repository, owner, leaseMs }: { repository: string; owner: string; leaseMs: number },
  ) {
    const lease = { owner, lease_until: nowMs + leaseMs };
    const { numInsertedOrUpdatedRows = 0n } = await db
      .insertInto("repository_makings")
      .values({ repository, ...lease })
      .onConflict((conflict) => conflict.column("repository").doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows > 0n) {
      return { ok: true };
    }
    const { numUpdatedRows } = await db
      .updateTable("repository_makings")
      .set(lease)
      .where("repository", "=", repository)
      .where(({ or, eb }) => or([eb("owner", "=", owner), eb("lease_until", "<", nowMs)]))
      .executeTakeFirst();
    return { ok: numUpdatedRows > 0n };
  },

  /** Releases the claim, if the owner still has it. */
  async "repositoryMakings.release"(
    { db }: TransactionContext,
    { repository, owner }: { repository: string; owner: string },
  ) {
    await db
      .deleteFrom("repository_makings")
      .where(({ and }) => and({ repository, owner }))
      .execute();
  },
};
