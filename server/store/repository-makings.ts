import type { TransactionContext } from "./transaction.ts";

/** Who makes a repository of backups at the moment, since two that do so at once would spoil it. */
export const repositoryMakingTransactions = {
  /** @returns whether it is the owner's to make, until the lease ends; the same owner may ask again */
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

  /** Lets others make it, unless they do already. */
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
