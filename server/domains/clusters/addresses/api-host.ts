import type { ClusterRecord, SlotRecord } from "../store/records.ts";

/**
 * Returns the IP address of a cluster's API servers: its endpoint if it has one, else the address of its first control-plane
 * machine; undefined until that is known.
 * @param slots the cluster's slots, in creation order
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
