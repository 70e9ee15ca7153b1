import { clusterColumns, type KnownClusterRow } from "./cluster-rows.ts";
import type { TransactionContext } from "./transaction.ts";

/**
 * Who writes of a cluster: nothing is written unless the cluster is still of this claim (owner and fence), so that a gateway
 * which was replaced while it slept does no harm.
 */
export interface FencedCluster {
  readonly name: string;
  readonly uid: string;
  /** Instance id of the gateway. */
  readonly owner: string;
  readonly fence: number;
}

/** The cluster, if it is still of this claim. */
export function heldCluster(
  { db }: TransactionContext,
  { name, uid, owner, fence }: FencedCluster,
): Promise<KnownClusterRow | undefined> {
  return db
    .selectFrom("clusters")
    .select(clusterColumns)
    .where(({ and }) => and({ name, uid, owner, fence }))
    .executeTakeFirst();
}
