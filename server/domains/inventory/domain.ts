import { InventoryService } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";

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
  async serve(context) {
    const { createInventoryService } = await import("./service.ts");
    const sources = [...context.served.values()].flatMap(({ inventory }) => inventory ?? []);
    return { registrations: [createInventoryService(sources)], planners: [], backends: [] };
  },
});
