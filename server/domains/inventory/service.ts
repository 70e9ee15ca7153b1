import { InventoryService } from "../../../gen/hostplane/v1/inventory_pb.ts";
import type { InventorySource, ResourceTypes } from "../../domain/inventory-source.ts";
import { createVisibilityOf, type VisibilityOf } from "../../domain/visibility.ts";
import type { Call } from "../../rpc/call/call.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { type FleetInventory, noFleetInventory } from "./hosts/fleet-inventory.ts";
import { type InventoryPart, readInventory } from "./read-inventory.ts";
import { hostInventoryMessage, resourceMessage } from "./resource-messages.ts";
import { pageOf } from "./resource-page.ts";
import {
  type KnownNames,
  parseResourceFilter,
  parseResourceQuery,
  type ResourceFilter,
} from "./resource-query.ts";
import { visiblePart } from "./visible-part.ts";
import { type InventoryState, watchResources } from "./watch-resources.ts";

/**
 * Creates hostplane.v1.InventoryService: the resources of all domains whose services the caller may call, and those of all hosts
 * on a hub.
 * @param types those that a filter may name; absent: those of the sources
 */
export function createInventoryService(
  sources: readonly InventorySource[],
  types: readonly ResourceTypes[] = sources,
  fleet: FleetInventory = noFleetInventory,
  visibilityOf: VisibilityOf = createVisibilityOf({ hub: undefined }),
): ServiceRegistration {
  const known: KnownNames = {
    types: [...new Set(types.flatMap((each) => each.types))].toSorted(),
    domains: [...new Set(types.map(({ domain }) => domain))].toSorted(),
  };

  /**
   * Selects the sources that may have what a caller asks for. The systems of the others are neither read nor watched.
   * @throws InfraError UNAUTHENTICATED reasons once the caller's credential is no longer accepted
   */
  function selectSources(filter: ResourceFilter, call: Pick<Call, "caller" | "peer">) {
    const { services: callable } = visibilityOf(call);
    return sources.filter(
      ({ domain, types, services }) =>
        (callable === undefined || services.some((name) => callable.has(name))) &&
        (filter.domains.size === 0 || filter.domains.has(domain)) &&
        (filter.types.size === 0 || types.some((type) => filter.types.has(type))),
    );
  }

  /** @throws InfraError HOST_UNKNOWN, INVALID_FIELD, and as `selectSources` */
  async function read(
    filter: ResourceFilter,
    call: Pick<Call, "caller" | "peer" | "signal">,
  ): Promise<InventoryState> {
    const { isHubSelected, hosts } = fleet.select(filter, call);
    const visibility = visibilityOf(call);
    const { bounds } = visibility;
    const own = isHubSelected ? await readInventory(selectSources(filter, call), call.signal) : [];
    return {
      parts: [
        ...own.map((part) => visiblePart(part, bounds)),
        ...hosts.map((host): InventoryPart => fleet.partOf(host, visibility)),
      ],
      hosts,
    };
  }

  return registerService(InventoryService, {
    async listResources(request, call) {
      const query = parseResourceQuery(request, known);
      const { parts, hosts } = await read(query.filter, call);
      const page = pageOf(
        parts.flatMap(({ rows }) => rows),
        query,
      );
      return {
        resources: page.rows.map(resourceMessage),
        nextPageToken: page.nextPageToken,
        problems: parts.flatMap(({ problems }) => problems),
        hosts: hosts.map(hostInventoryMessage),
      };
    },
    watchResources({ filter }, call) {
      const parsed = parseResourceFilter(filter, known);
      // Refuses a filter before the stream begins.
      const { isHubSelected } = fleet.select(parsed, call);
      const subscriptions = isHubSelected
        ? selectSources(parsed, call).map((source) => source.subscribe)
        : [];
      return watchResources(
        () => read(parsed, call),
        [...subscriptions, fleet.subscribe],
        parsed,
        call.signal,
      );
    },
  });
}
