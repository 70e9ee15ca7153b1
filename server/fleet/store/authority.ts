import type { TransactionContext } from "../../store/transaction.ts";

/** A sealed authority of a fleet. */
export interface SealedAuthority {
  readonly fleetId: string;
  readonly sealed: Uint8Array;
}

/** The authority of a hub's fleet. */
export const authorityTransactions = {
  /** Returns the authority; undefined before the first hub has started. */
  async "fleet.authority"({ db }: TransactionContext): Promise<SealedAuthority | undefined> {
    const row = await db.selectFrom("fleet_authority").selectAll().executeTakeFirst();
    return row === undefined ? undefined : { fleetId: row.fleet_id, sealed: new Uint8Array(row.sealed) };
  },

  /** Stores an authority unless there is one, and returns the one that is stored. */
  async "fleet.makeAuthority"(
    { db, nowMs }: TransactionContext,
    { fleetId, sealed }: SealedAuthority,
  ): Promise<SealedAuthority> {
    await db
      .insertInto("fleet_authority")
      .values({ id: 1, fleet_id: fleetId, sealed, created_at: nowMs })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const row = await db.selectFrom("fleet_authority").selectAll().executeTakeFirstOrThrow();
    return { fleetId: row.fleet_id, sealed: new Uint8Array(row.sealed) };
  },
};
