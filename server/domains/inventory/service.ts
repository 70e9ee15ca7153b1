import { InventoryService } from "../../../gen/hostplane/v1/inventory_pb.ts";
import type { InventorySource } from "../../domain/inventory-source.ts";
import type { Call } from "../../rpc/call.ts";
import { callableServices } from "../../rpc/callable-services.ts";
import { registerService, type ServiceRegistration } from "../../rpc/service-handlers.ts";
import { readInventory } from "./read-inventory.ts";
import { problemMessage, resourceMessage } from "./resource-messages.ts";
import { pageOf } from "./resource-page.ts";
import { type KnownNames, parseResourceFilter, parseResourceQuery } from "./resource-query.ts";
import { watchResources } from "./watch-resources.ts";

/** hostplane.v1.InventoryService: the resources of all domains whose services the caller may call. */
export function createInventoryService(sources: readonly InventorySource[]): ServiceRegistration {
  const known: KnownNames = {
    types: [...new Set(sources.flatMap(({ types }) => types))].toSorted(),
    domains: [...new Set(sources.map(({ domain }) => domain))].toSorted(),
  };

  /** @throws InfraError UNAUTHENTICATED reasons once the caller's credential is no longer accepted */
  function visibleSources(call: Pick<Call, "caller" | "peer">): readonly InventorySource[] {
    const callable = callableServices(call);
    return callable === undefined
      ? sources
      : sources.filter(({ services }) => services.some((name) => callable.has(name)));
  }

  return registerService(InventoryService, {
    async listResources(request, call) {
      const query = parseResourceQuery(request, known);
      const { rows, problems } = await readInventory(visibleSources(call), call.signal);
      const page = pageOf(rows, query);
      return {
        resources: page.rows.map(resourceMessage),
        nextPageToken: page.nextPageToken,
        problems: problems.map(problemMessage),
      };
    },
    watchResources({ filter }, call) {
      const parsed = parseResourceFilter(filter, known);
      return watchResources(sources, () => visibleSources(call), parsed, call.signal);
    },
  });
}
