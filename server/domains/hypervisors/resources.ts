import { hypervisorResource } from "../../../adapters/libvirt/names.ts";
import {
  bytes,
  count,
  createResourceCache,
  type InventorySource,
  type Resource,
  subscribeToAll,
} from "../../domain/inventory-source.ts";
import type { Hypervisors } from "./hypervisors.ts";
import type { Hypervisor } from "./inventory.ts";

/** The hypervisors of this host; while libvirt is unreachable as they were last known. */
export function createHypervisorResources(
  hypervisors: Pick<Hypervisors, "list">,
  subscriptions: readonly InventorySource["subscribe"][],
): InventorySource {
  const resourcesOf = createResourceCache((all: readonly Hypervisor[]) => all.map(resourceOf));
  return {
    domain: "hypervisors",
    types: ["hypervisor"],
    services: ["operations.v1.OperationsService"],
    async read(signal) {
      const { hypervisors: all, readAtMs, failure } = await hypervisors.list(signal);
      return {
        resources: resourcesOf(all),
        readAtMs,
        ...(failure === undefined ? {} : { staleBecause: failure }),
      };
    },
    subscribe: (onChange) => subscribeToAll(subscriptions, onChange),
  };
}

function resourceOf({ id, state, threadCount, memoryMib, capabilities, gpus, reason }: Hypervisor): Resource {
  return {
    name: hypervisorResource(id),
    type: "hypervisor",
    title: id,
    state,
    health: state === "unknown" ? "unknown" : "ok",
    figures: [
      count("vcpus", threadCount),
      bytes("memory", BigInt(memoryMib) << 20n),
      ...(gpus.length === 0 ? [] : [count("gpus", gpus.length)]),
    ],
    labels: Object.fromEntries(capabilities.map((name) => [`capability/${name}`, ""])),
    ...(reason === "" ? {} : { reason }),
  };
}
