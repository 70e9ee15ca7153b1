import type { TransactionContext } from "../../store/transaction.ts";

/** Membership of this gateway in a fleet. */
export const membershipTransactions = {
  /** Returns the sealed membership; undefined if the gateway is not a member. */
  async "fleet.membership"({ db }: TransactionContext): Promise<Uint8Array | undefined> {
    const row = await db.selectFrom("fleet_membership").select("sealed").executeTakeFirst();
    return row === undefined ? undefined : new Uint8Array(row.sealed);
  },

  /** Stores the membership in place of any other. */
  async "fleet.setMembership"(
    { db, nowMs, notify }: TransactionContext,
    { sealed }: { readonly sealed: Uint8Array },
  ): Promise<void> {
    await db.deleteFrom("fleet_membership").execute();
    await db.insertInto("fleet_membership").values({ id: 1, sealed, joined_at: nowMs }).execute();
    notify("fleet");
  },

  async "fleet.removeMembership"({ db, notify }: TransactionContext): Promise<void> {
    await db.deleteFrom("fleet_membership").execute();
    notify("fleet");
  },
};
