import { oncePerObject } from "../../../../adapters/host/once-per-object.ts";
import { hypervisorResource } from "../../../../adapters/libvirt/names.ts";
import {
  bytes,
  count,
  type InventorySource,
  type Resource,
  subscribeToAll,
} from "../../../domain/inventory-source.ts";
import type { Hypervisors } from "../hypervisors.ts";
import type { Hypervisor } from "../inventory.ts";
import { hypervisorResourceTypes } from "./resource-types.ts";

/** The hypervisors of this host; while libvirt is unreachable as they were last known. */
export function createHypervisorResources(
  hypervisors: Pick<Hypervisors, "list">,
  subscriptions: readonly InventorySource["subscribe"][],
): InventorySource {
  const resourcesOf = oncePerObject((all: readonly Hypervisor[]) => all.map(resourceOf));
  return {
    ...hypervisorResourceTypes,
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

function resourceOf(hypervisor: Hypervisor): Resource {
  const { id, state, threadCount, memoryMib, capabilities, gpus, reason, isDefined, madeBy } = hypervisor;
  const models = gpus.map(({ brand, model }) => `${brand} ${model}`.trim()).filter((model) => model !== "");
  return {
    name: hypervisorResource(id),
    type: "hypervisor",
    title: id,
    state,
    health: state === "unknown" ? "unknown" : "ok",
    figures: [
      // libvirt does not report them for a VM that it cannot read.
      ...(threadCount === 0 ? [] : [count("vcpus", threadCount)]),
      ...(memoryMib === 0 ? [] : [bytes("memory", BigInt(memoryMib) << 20n)]),
      ...(gpus.length === 0 ? [] : [count("gpus", gpus.length)]),
    ],
    labels: Object.fromEntries(capabilities.map((name) => [`capability/${name}`, ""])),
    properties: {
      source: isDefined ? "vm" : "template",
      ...(models.length === 0 ? {} : { gpus: models.join(", ") }),
      ...(madeBy === undefined ? {} : { created_by: madeBy }),
    },
    ...(reason === "" ? {} : { reason }),
  };
}
