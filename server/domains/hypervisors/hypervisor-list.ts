import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter, LibvirtState } from "../../../adapters/libvirt/adapter.ts";
import type { Store } from "../../store/store.ts";
import { libvirtSource } from "./events/hypervisor-observer.ts";
import { inventoryFrom, parseObservedHypervisors } from "./events/observed-hypervisors.ts";
import type { Hypervisor, Inventory } from "./inventory.ts";

/** The inventory at one point in time. */
export interface ListedHypervisors {
  /** The same array as long as nothing changes. */
  readonly hypervisors: readonly Hypervisor[];
  /** When the read of libvirt began (performance.now()); undefined if libvirt cannot be read. */
  readonly readAtMs: number | undefined;
  /** Why libvirt cannot be read; undefined if it can. */
  readonly failure: InfraError | undefined;
}

export interface HypervisorListOptions {
  readonly libvirt: LibvirtAdapter;
  readonly inventory: Inventory;
  readonly store: Pick<Store, "run">;
  readonly host: string;
}

/**
 * Creates the function that reads the inventory, from memory while libvirt reports its changes. While libvirt is unreachable,
 * it returns the last known inventory, if necessary that of an earlier gateway process, with all states unknown. An outage
 * therefore never removes an id.
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
