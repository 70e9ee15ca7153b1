import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter, LibvirtState } from "../../../adapters/libvirt/adapter.ts";
import type { Store } from "../../store/store.ts";
import { libvirtSource } from "./events/hypervisor-observer.ts";
import { inventoryFrom, parseObservedHypervisors } from "./events/observed-hypervisors.ts";
import type { Hypervisor, Inventory } from "./inventory.ts";

/** The inventory at some moment. */
export interface ListedHypervisors {
  /** The same array for as long as nothing has changed. */
  readonly hypervisors: readonly Hypervisor[];
  /** When the read began that it comes of (performance.now()); undefined when libvirt cannot be read. */
  readonly readAtMs: number | undefined;
  /** Why libvirt cannot be read. */
  readonly failure: InfraError | undefined;
}

export interface HypervisorListOptions {
  readonly libvirt: LibvirtAdapter;
  readonly inventory: Inventory;
  readonly store: Pick<Store, "run">;
  readonly host: string;
}

/**
 * Makes what reads the inventory: from memory, as long as libvirt tells of its changes. While libvirt cannot be reached it
 * is what was last known, also by a gateway before this one, with no state known: no id is ever missing because of that.
 */
export function createHypervisorList(
  options: HypervisorListOptions,
): (signal: AbortSignal) => Promise<ListedHypervisors> {
  const { libvirt, inventory, store, host } = options;
  const inventories = new WeakMap<LibvirtState, readonly Hypervisor[]>();
  let known: readonly Hypervisor[] | undefined;
  let unreadable: { readonly reason: string; readonly hypervisors: readonly Hypervisor[] } | undefined;

  function inventoryOf(state: LibvirtState): readonly Hypervisor[] {
    let hypervisors = inventories.get(state);
    if (hypervisors === undefined) {
      hypervisors = inventory.of(state);
      inventories.set(state, hypervisors);
    }
    return hypervisors;
  }

  async function lastKnown(): Promise<readonly Hypervisor[]> {
    if (known === undefined) {
      const { observed } = await store.run("observed.read", { source: libvirtSource(libvirt, host) });
      const kept = parseObservedHypervisors(observed?.state);
      known ??= kept === undefined ? [] : inventoryFrom(kept);
    }
    return known;
  }

  return async (signal) => {
    try {
      const { value, readAtMs } = await libvirt.read(signal);
      known = inventoryOf(value);
      unreadable = undefined;
      return { hypervisors: known, readAtMs, failure: undefined };
    } catch (error) {
      if (signal.aborted || !(error instanceof InfraError)) {
        throw error;
      }
      const last = await lastKnown();
      if (unreadable?.reason !== error.message) {
        unreadable = { reason: error.message, hypervisors: inventory.unreadable(last, error.message) };
      }
      return { hypervisors: unreadable.hypervisors, readAtMs: undefined, failure: error };
    }
  };
}
