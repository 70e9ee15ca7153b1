import { setTimeout as sleep } from "node:timers/promises";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter, LibvirtState } from "../../../../adapters/libvirt/adapter.ts";
import {
  observeSystem,
  type SystemObserver,
  type SystemObserverOptions,
} from "../../../events/observe-system.ts";
import type { CauseOf, ObservedChanges, ObservedSystem } from "../../../events/observed-system.ts";
import type { Hypervisor, Inventory } from "../inventory.ts";
import { type HypervisorDifference, hypervisorDifferences } from "./hypervisor-differences.ts";
import { hypervisorEvent, services } from "./hypervisor-events.ts";
import {
  inventoryFrom,
  type ObservedHypervisors,
  observeHypervisors,
  parseObservedHypervisors,
} from "./observed-hypervisors.ts";
import type { OwnChange, OwnChanges } from "./own-changes.ts";

/** Options of `observeHypervisorChanges`. */
export interface HypervisorObserverOptions extends SystemObserverOptions {
  readonly libvirt: LibvirtAdapter;
  readonly inventory: Inventory;
  readonly own: OwnChanges;
  readonly host: string;
}

/** Time within which libvirt's events bring the cached state up to date. */
const eventsTakeMs = 250;

/** Returns the name under which the store keeps the state of a host's libvirt. */
export function libvirtSource({ kind }: Pick<LibvirtAdapter, "kind">, host: string): string {
  return `${kind === "sandbox" ? "sandbox-" : ""}libvirt/${host}`;
}

/**
 * Publishes changes of the inventory as events, whatever caused them. If libvirt is unreachable, the events report unknown
 * states and the reason.
 */
export function observeHypervisorChanges(options: HypervisorObserverOptions): SystemObserver {
  const { libvirt, inventory, own, host } = options;
  function changesOf(
    before: ObservedHypervisors | undefined,
    hypervisors: readonly Hypervisor[],
    causeOf: CauseOf<HypervisorDifference, OwnChange>,
  ): ObservedChanges<ObservedHypervisors> {
    const observed = observeHypervisors(before, hypervisors);
    const differences =
      before === undefined ? [] : hypervisorDifferences(before.hypervisors, observed.hypervisors);
    const events = differences.map((difference) => hypervisorEvent(difference, causeOf(difference), host));
    return { observed, events };
  }

  const system: ObservedSystem<LibvirtState, ObservedHypervisors, HypervisorDifference, OwnChange> = {
    source: libvirtSource(libvirt, host),
    name: "libvirt",
    subscribe: (onChange) => libvirt.subscribe(onChange),
    async read(sinceMs, signal) {
      const snapshot = await libvirt.read(signal);
      const tooEarlyMs = sinceMs + eventsTakeMs - performance.now();
      if (snapshot.readAtMs >= sinceMs || tooEarlyMs <= 0) {
        return snapshot;
      }
      // libvirt may not have reported a change to this gateway yet that another gateway has already published.
      await sleep(tooEarlyMs, undefined, { signal });
      return libvirt.read(signal);
    },
    parse: parseObservedHypervisors,
    changes: (before, state, causeOf) => changesOf(before, inventory.of(state), causeOf),
    changesWhenUnreadable(before, error) {
      if (before === undefined || !(error instanceof InfraError)) {
        return undefined;
      }
      return changesOf(before, inventory.unreadable(inventoryFrom(before), error.message), () => undefined);
    },
    gapOrigin: { topic: "hypervisors", resource: "hypervisors", host, services },
    own,
  };
  return observeSystem(system, options);
}
