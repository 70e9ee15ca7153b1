import { type FencedCluster, heldCluster } from "./cluster-fence.ts";
import type { TransactionContext } from "./transaction.ts";

/** Those of the addresses that no cluster has, in their order. */
export async function freeEndpoints(
  { db }: TransactionContext,
  endpoints: readonly string[],
): Promise<readonly string[]> {
  const rows = await db.selectFrom("clusters").select("endpoint").where("endpoint", "is not", null).execute();
  const taken = new Set(rows.map(({ endpoint }) => endpoint));
  return endpoints.filter((endpoint) => !taken.has(endpoint));
}

export const clusterEndpointTransactions = {
  /**
   * Gives a cluster the next address that no cluster has, when its own turned out to be in use by others.
   * @param endpoints all of the configuration; those behind its own come first
   * @returns undefined as `endpoint` when there is no other
   */
  async "clusters.moveEndpoint"(
    context: TransactionContext,
    args: { fenced: FencedCluster; endpoints: readonly string[]; tried: readonly string[] },
  ): Promise<{ readonly ok: true; readonly endpoint: string | undefined } | { readonly ok: false }> {
    const { db, notify } = context;
    const { fenced, endpoints, tried } = args;
    const before = await heldCluster(context, fenced);
    if (before === undefined) {
      return { ok: false };
    }
    const turn = endpoints.indexOf(before.endpoint ?? "") + 1;
    const inTurn = [...endpoints.slice(turn), ...endpoints.slice(0, turn)];
    const free = await freeEndpoints(context, inTurn);
    const endpoint = free.find((each) => !tried.includes(each));
    if (endpoint !== undefined) {
      await db.updateTable("clusters").set({ endpoint }).where("name", "=", before.name).execute();
      notify("clusters");
    }
    return { ok: true, endpoint };
  },
};
