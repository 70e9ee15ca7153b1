import type { TransactionContext } from "../../store/transaction.ts";

/** The sealed authority of a hub's fleet. */
export const authorityTransactions = {
  /** Returns the authority; undefined before the first hub has started. */
  async "fleet.authority"({ db }: TransactionContext): Promise<Uint8Array | undefined> {
    const row = await db.selectFrom("fleet_authority").select("sealed").executeTakeFirst();
    return row === undefined ? undefined : new Uint8Array(row.sealed);
  },

  /** Stores an authority unless there is one, and returns the one that is stored. */
  async "fleet.makeAuthority"(
    { db, nowMs }: TransactionContext,
    { sealed }: { readonly sealed: Uint8Array },
  ): Promise<Uint8Array> {
    await db
      .insertInto("fleet_authority")
      .values({ id: 1, sealed, created_at: nowMs })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const row = await db.selectFrom("fleet_authority").select("sealed").executeTakeFirstOrThrow();
    return new Uint8Array(row.sealed);
  },
};
