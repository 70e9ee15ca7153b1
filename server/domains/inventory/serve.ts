import { InventoryService } from "../../../gen/hostplane/v1/inventory_pb.ts";
import type { DomainContext, DomainServices } from "../../domain/domain-services.ts";
import { registerAccess } from "../../rpc/access/method-access.ts";
import { createFleetInventory, noFleetInventory } from "./hosts/fleet-inventory.ts";
import { createHostInventories } from "./hosts/host-inventories.ts";
import { createInventoryService } from "./service.ts";

/** Creates the inventory of this gateway, and of all hosts on a hub. */
export function serveInventory(context: DomainContext): DomainServices {
  const { served, fleet, resourceTypes, visibilityOf, store, log } = context;
  const { hub } = fleet;
  const access = [registerAccess(InventoryService, { listResources: "own", watchResources: "own" })];
  const sources = [...served.values()].flatMap(({ inventory }) => inventory ?? []);
  if (hub === undefined) {
    return {
      registrations: [createInventoryService(sources, sources, noFleetInventory, visibilityOf)],
      planners: [],
      access,
      backends: [],
    };
  }
  const inventories = createHostInventories(hub, store, (error) =>
    log.warn("the resources of a host could not be stored or read", error),
  );
  const ofHosts = createFleetInventory(hub, inventories, resourceTypes);
  return {
    registrations: [createInventoryService(sources, resourceTypes, ofHosts, visibilityOf)],
    planners: [],
    access,
    backends: [],
    beginSchedules: inventories.begin,
  };
}
