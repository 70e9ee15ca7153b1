import { InventoryService } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";
import { fleetReasons } from "../../fleet/reasons.ts";
import { inventoryReasons } from "./reasons.ts";

/** The resources of all domains. */
export const inventoryDomain = defineGatewayDomain({
  name: "inventory",
  services: [
    {
      service: InventoryService,
      // Callers see the resources of the services that they may call.
      rules: {
        ListResources: { ofEveryService: true, get: false, cache: false },
        WatchResources: { ofEveryService: true },
      },
    },
  ],
  reasons: { tables: [inventoryReasons], every: [fleetReasons.HOST_UNKNOWN] },
  async serve(context) {
    const { serveInventory } = await import("./serve.ts");
    return serveInventory(context);
  },
});
