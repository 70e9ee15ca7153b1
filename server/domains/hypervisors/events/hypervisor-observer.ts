import { setTimeout as sleep } from "node:timers/promises";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter, LibvirtState } from "../../../../adapters/libvirt/adapter.ts";
import {
  type ObservedSystem,
  observeSystem,
  type SystemObserver,
  type SystemObserverOptions,
  type Told,
} from "../../../events/observe-system.ts";
import type { Hypervisor, Inventory } from "../inventory.ts";
import type { OwnChanges } from "../own-changes.ts";
import { hypervisorDifferences } from "./hypervisor-differences.ts";
import { hypervisorEvent, services } from "./hypervisor-events.ts";
import {
  inventoryFrom,
  type ObservedHypervisors,
  observeHypervisors,
  parseObservedHypervisors,
} from "./observed-hypervisors.ts";

/** What `observeHypervisorChanges` needs. */
export interface HypervisorObserverOptions extends SystemObserverOptions {
  readonly libvirt: LibvirtAdapter;
  readonly inventory: Inventory;
  readonly own: OwnChanges;
  readonly host: string;
}

/** Within that libvirt's events have brought a state up to date. */
const eventsTakeMs = 250;

/** What the store calls the libvirt of a host. */
export function libvirtSource({ kind }: Pick<LibvirtAdapter, "kind">, host: string): string {
  return `${kind === "sandbox" ? "sandbox-" : ""}libvirt/${host}`;
}

/**
 * Tells each change of the inventory as events, whoever makes it; and when libvirt cannot be reached, that no state is
 * known, and why.
 */
export function observeHypervisorChanges(options: HypervisorObserverOptions): SystemObserver {
  const { libvirt, inventory, own, host } = options;
  /** When the read of the last state began whose differences are told, by this gateway or others. */
  let toldAsOfMs = Number.NEGATIVE_INFINITY;

  function tell(
    before: ObservedHypervisors | undefined,
    hypervisors: readonly Hypervisor[],
    isReadable: boolean,
  ): Told<ObservedHypervisors> {
    const observed = observeHypervisors(before, hypervisors);
    const differences =
      before === undefined ? [] : hypervisorDifferences(before.hypervisors, observed.hypervisors);
    const events = differences.map((difference) => {
      const { id } = difference.hypervisor;
      const change = isReadable ? own.find(({ hypervisorId }) => hypervisorId === id) : undefined;
      return hypervisorEvent(difference, change, host);
    });
    return { observed, events };
  }

  const system: ObservedSystem<LibvirtState, ObservedHypervisors> = {
    source: libvirtSource(libvirt, host),
    name: "libvirt",
    subscribe: (onChange) => libvirt.subscribe(onChange),
    async read(sinceMs, signal) {
      own.forget(toldAsOfMs);
      const snapshot = await libvirt.read(signal);
      const tooEarlyMs = sinceMs + eventsTakeMs - performance.now();
      if (snapshot.readAtMs >= sinceMs || tooEarlyMs <= 0) {
        return snapshot;
      }
      // What another gateway has told, this one has perhaps not been told by libvirt yet.
      await sleep(tooEarlyMs, undefined, { signal });
      return libvirt.read(signal);
    },
    parse: parseObservedHypervisors,
    tell: (before, state) => tell(before, inventory.of(state), true),
    tellUnreadable(before, error) {
      if (before === undefined || !(error instanceof InfraError)) {
        return undefined;
      }
      return tell(before, inventory.unreadable(inventoryFrom(before), error.message), false);
    },
    gapOrigin: { topic: "hypervisors", resource: "hypervisors", host, services },
    onTold: (readAtMs) => {
      toldAsOfMs = readAtMs;
    },
  };
  return observeSystem(system, options);
}
