import { InventoryService } from "../../../gen/hostplane/v1/inventory_pb.ts";
import type { InventorySource } from "../../domain/inventory-source.ts";
import type { Call } from "../../rpc/call/call.ts";
import { callableServices } from "../../rpc/call/callable-services.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { readInventory } from "./read-inventory.ts";
import { problemMessage, resourceMessage } from "./resource-messages.ts";
import { pageOf } from "./resource-page.ts";
import {
  type KnownNames,
  parseResourceFilter,
  parseResourceQuery,
  type ResourceFilter,
} from "./resource-query.ts";
import { watchResources } from "./watch-resources.ts";

/** hostplane.v1.InventoryService: the resources of all domains whose services the caller may call. */
export function createInventoryService(sources: readonly InventorySource[]): ServiceRegistration {
  const known: KnownNames = {
    types: [...new Set(sources.flatMap(({ types }) => types))].toSorted(),
    domains: [...new Set(sources.map(({ domain }) => domain))].toSorted(),
  };

  /**
   * Selects the sources that may have what a caller asks for. The systems of the others are neither read nor watched.
   * @throws InfraError UNAUTHENTICATED reasons once the caller's credential is no longer accepted
   */
  function selectSources(filter: ResourceFilter, call: Pick<Call, "caller" | "peer">) {
    const callable = callableServices(call);
    return sources.filter(
      ({ domain, types, services }) =>
        (callable === undefined || services.some((name) => callable.has(name))) &&
        (filter.domains.size === 0 || filter.domains.has(domain)) &&
        (filter.types.size === 0 || types.some((type) => filter.types.has(type))),
    );
  }

  return registerService(InventoryService, {
    async listResources(request, call) {
      const query = parseResourceQuery(request, known);
      const { rows, problems } = await readInventory(selectSources(query.filter, call), call.signal);
      const page = pageOf(rows, query);
      return {
        resources: page.rows.map(resourceMessage),
        nextPageToken: page.nextPageToken,
        problems: problems.map(problemMessage),
      };
    },
    watchResources({ filter }, call) {
      const parsed = parseResourceFilter(filter, known);
      return watchResources(() => selectSources(parsed, call), parsed, call.signal);
    },
  });
}
