import { forgetObserved, putObserved, readObserved } from "../../events/store/observed-states.ts";
import type { TransactionContext } from "../../store/transaction.ts";

/** The resources of a host as a hub last knew them. */
export interface StoredInventory {
  /** Until when they were known to be the host's. */
  readonly atMs: number;
  /** Each a hostplane.v1.Resource as JSON. */
  readonly resources: readonly unknown[];
}

/** The resources of hosts, for a hub that is started while a host is not connected. */
export const inventoryTransactions = {
  /** Returns the stored resources of a host; undefined if there are none. */
  async "fleet.inventory"(
    context: TransactionContext,
    { hostId }: { readonly hostId: string },
  ): Promise<StoredInventory | undefined> {
    const observed = await readObserved(context, sourceOf(hostId));
    return observed?.state as StoredInventory | undefined;
  },

  /** Stores the resources of a host in place of earlier ones, unless the fleet no longer has the host. */
  async "fleet.setInventory"(
    context: TransactionContext,
    { hostId, inventory }: { readonly hostId: string; readonly inventory: StoredInventory },
  ): Promise<void> {
    const host = await context.db
      .selectFrom("fleet_hosts")
      .select("id")
      .where("id", "=", hostId)
      .executeTakeFirst();
    if (host !== undefined) {
      await putObserved(context, sourceOf(hostId), inventory);
    }
  },
};

/** Deletes the stored resources of a host. */
export function forgetInventory(context: TransactionContext, hostId: string): Promise<void> {
  return forgetObserved(context, sourceOf(hostId));
}

/** Returns the name of a host's resources among the states of systems. */
function sourceOf(hostId: string): string {
  return `fleet/hosts/${hostId}/inventory`;
}
