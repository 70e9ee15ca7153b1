import type { ClusterRecord, SlotRecord } from "../../store/cluster-records.ts";

/**
 * The IP address by which a cluster's API servers are reached: the one that it keeps, else that of the first machine of its
 * control plane; undefined as long as that has none.
 * @param slots of the cluster, in the order in which they were made
 */
export function apiHostOf(
  { endpoint }: Pick<ClusterRecord, "endpoint">,
  slots: readonly Pick<SlotRecord, "pool" | "state" | "ipAddress">[],
): string | undefined {
  const first = slots.find(
    ({ pool, state, ipAddress }) =>
      pool === undefined && ipAddress !== undefined && state !== "releasing" && state !== "released",
  );
  return endpoint ?? first?.ipAddress;
}
