import type { DomainContext, DomainServices } from "../../domain/domain-services.ts";
import { createFleetInventory } from "./hosts/fleet-inventory.ts";
import { createHostInventories } from "./hosts/host-inventories.ts";
import { createInventoryService } from "./service.ts";

/** Creates the inventory of this gateway, and of all hosts on a hub. */
export function serveInventory({ served, fleet: { hub }, resourceTypes }: DomainContext): DomainServices {
  const sources = [...served.values()].flatMap(({ inventory }) => inventory ?? []);
  if (hub === undefined) {
    return { registrations: [createInventoryService(sources)], planners: [], backends: [] };
  }
  const inventories = createHostInventories(hub);
  const fleet = createFleetInventory(hub, inventories, resourceTypes);
  return {
    registrations: [createInventoryService(sources, resourceTypes, fleet)],
    planners: [],
    backends: [],
    beginSchedules: inventories.begin,
  };
}
