import type { TransactionContext } from "../../../store/transaction.ts";

const nameFor = (backend: string) => `cluster_account ${backend}`;

export const clusterAccountTransactions = {
  /** Returns the account that a MAAS backend's machines were allocated with; undefined when none was recorded. */
  async "clusters.account"(
    { db }: TransactionContext,
    { backend }: { backend: string },
  ): Promise<{ readonly account: string | undefined; readonly hasMachines: boolean }> {
    const row = await db
      .selectFrom("meta")
      .select("value")
      .where("name", "=", nameFor(backend))
      .executeTakeFirst();
    const machine = await db
      .selectFrom("cluster_slots")
      .innerJoin("clusters", "clusters.uid", "cluster_slots.cluster_uid")
      .select("cluster_slots.uid")
      .where("clusters.backend", "=", backend)
      .where("cluster_slots.state", "<>", "released")
      .where("cluster_slots.system_id", "is not", null)
      .limit(1)
      .executeTakeFirst();
    return { account: row?.value, hasMachines: machine !== undefined };
  },

  async "clusters.setAccount"(
    { db }: TransactionContext,
    { backend, account }: { backend: string; account: string },
  ): Promise<void> {
    await db
      .insertInto("meta")
      .values({ name: nameFor(backend), value: account })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ value: account }))
      .execute();
  },
};
