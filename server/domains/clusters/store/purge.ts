import type { TransactionContext } from "../../../store/transaction.ts";

export const clusterPurgeTransactions = {
  /** Removes all clusters of a MAAS that no longer exists, such as a sandbox's. */
  async "clusters.removeOf"({ db }: TransactionContext, { backend }: { backend: string }) {
    const names = db.selectFrom("clusters").select("name").where("backend", "=", backend);
    await db.deleteFrom("cluster_machine_events").where("cluster", "in", names).execute();
    await db.deleteFrom("cluster_slots").where("cluster", "in", names).execute();
    await db.deleteFrom("cluster_pools").where("cluster", "in", names).execute();
    await db.deleteFrom("clusters").where("backend", "=", backend).execute();
  },

  /**
   * Removes machines that were released more than `keepMs` ago, and machine events that are older than that.
   * @param limit maximum number of machines, and of events
   * @returns the larger of the two numbers; if it equals `limit`, there may be more
   */
  async "clusters.purge"(
    { db, nowMs }: TransactionContext,
    { keepMs, limit }: { keepMs: number; limit: number },
  ): Promise<{ readonly count: number }> {
    const released = await db
      .selectFrom("cluster_slots")
      .select("seq")
      .where("state", "=", "released")
      .where("state_since", "<", nowMs - keepMs)
      .orderBy("seq")
      .limit(limit)
      .execute();
    const past = await db
      .selectFrom("cluster_machine_events")
      .select("seq")
      .where("at", "<", nowMs - keepMs)
      .orderBy("at")
      .limit(limit)
      .execute();
    // PostgreSQL rejects an empty `in` list.
    if (released.length > 0) {
      await db
        .deleteFrom("cluster_slots")
        .where(
          "seq",
          "in",
          released.map(({ seq }) => seq),
        )
        .execute();
    }
    if (past.length > 0) {
      await db
        .deleteFrom("cluster_machine_events")
        .where(
          "seq",
          "in",
          past.map(({ seq }) => seq),
        )
        .execute();
    }
    return { count: Math.max(released.length, past.length) };
  },
};
