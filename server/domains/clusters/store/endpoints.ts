import type { TransactionContext } from "../../../store/transaction.ts";
import { type FencedCluster, heldCluster } from "./fence.ts";

/** Returns the addresses that no cluster uses, in their order. */
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
   * Moves a cluster to the next address that no cluster uses, because something else turned out to use its own.
   * @param endpoints all addresses of the configuration; those after the current one are tried first
   * @returns `endpoint`: undefined when no other address is free
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
