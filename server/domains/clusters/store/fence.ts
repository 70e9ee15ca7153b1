import type { TransactionContext } from "../../../store/transaction.ts";
import { clusterColumns, type KnownClusterRow } from "./rows.ts";

/**
 * Identifies a claim on a cluster. Writes are refused unless the cluster still has this owner and fence, so that a gateway
 * that was suspended and replaced can do no harm.
 */
export interface FencedCluster {
  readonly name: string;
  readonly uid: string;
  /** Instance ID of the gateway. */
  readonly owner: string;
  readonly fence: number;
}

/** Returns the cluster if the claim is still valid. */
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
