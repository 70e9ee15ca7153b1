import { invalidField } from "../../../../adapters/host/infra-error.ts";
import type { ResourceTypes } from "../../../domain/inventory-source.ts";
import type { Visibility } from "../../../domain/visibility.ts";
import { grantedHosts } from "../../../fleet/caller/granted-hosts.ts";
import type { Hub } from "../../../fleet/hub/hub.ts";
import { type HostFilter, selectHosts } from "../../../fleet/hub/select-hosts.ts";
import type { Call } from "../../../rpc/call/call.ts";
import type { InventoryPart, InventoryRow } from "../read-inventory.ts";
import { withoutDetails } from "../visible-part.ts";
import type { HostInventories } from "./host-inventories.ts";
import type { HostInventory } from "./host-inventory.ts";

/** The hosts that a filter selects. */
export interface SelectedInventories {
  /** Whether the gateway's own resources are selected. */
  readonly isHubSelected: boolean;
  /** By name. */
  readonly hosts: readonly HostInventory[];
}

/** The resources of all hosts of a fleet. A gateway that is not a hub has none. */
export interface FleetInventory {
  /** @throws InfraError INVALID_FIELD, HOST_UNKNOWN */
  select(filter: HostFilter, call: Pick<Call, "caller">): SelectedInventories;
  /** Returns what the caller may see of a host. */
  partOf(host: HostInventory, visibility: Visibility): InventoryPart;
  subscribe(onChange: () => void): () => void;
}

/** The fleet of a gateway that is not a hub. */
export const noFleetInventory: FleetInventory = {
  select({ hosts, hostLabels }) {
    if (hosts.size > 0 || hostLabels.length > 0) {
      const field = hosts.size > 0 ? "filter.hosts" : "filter.host_labels";
      throw invalidField(field, "this gateway is not a hub, so it has no hosts");
    }
    return { isHubSelected: true, hosts: [] };
  },
  partOf: ({ host }) => ({ id: host, version: [], rows: [], problems: [], services: [] }),
  subscribe: () => () => {},
};

/** @param resourceTypes those of all domains: they decide who may see the resources of a host */
export function createFleetInventory(
  hub: Pick<Hub, "hosts">,
  inventories: Pick<HostInventories, "read" | "subscribe">,
  resourceTypes: readonly ResourceTypes[],
): FleetInventory {
  const servicesByType = new Map(
    resourceTypes.flatMap(({ domain, types, services }) =>
      types.map((type) => [`${domain}/${type}`, services] as const),
    ),
  );
  const servicesByDomain = Map.groupBy(resourceTypes, ({ domain }) => domain);

  /** A type that this version does not know is for callers of all services. */
  function isVisible({ domain, resource, host }: InventoryRow, { services, bounds }: Visibility): boolean {
    const all = servicesByType.get(`${domain}/${resource.type}`) ?? [];
    return (
      (services === undefined || all.some((name) => services.has(name))) &&
      (bounds === undefined || bounds.covers({ services: all, resource: resource.name, host }))
    );
  }

  function isDomainVisible(domain: string, callable: ReadonlySet<string>): boolean {
    const all = servicesByDomain.get(domain) ?? [];
    return all.some(({ services }) => services.some((name) => callable.has(name)));
  }

  return {
    select(filter, call) {
      const { isHubSelected, hosts } = selectHosts({ hosts: grantedHosts(hub.hosts, call) }, filter);
      return { isHubSelected, hosts: hosts.map(({ name }) => inventories.read(name)) };
    },
    partOf({ host, rows, problems }, visibility) {
      const { services, bounds } = visibility;
      const isLimited = services !== undefined || bounds !== undefined;
      const visibleProblems = problems
        .filter(({ domain }) => services === undefined || isDomainVisible(domain, services))
        .map((problem) => ({ host, ...problem }));
      return {
        id: `host ${host}`,
        version: [rows, services, bounds],
        rows: isLimited ? rows.filter((row) => isVisible(row, visibility)) : rows,
        problems: bounds === undefined ? visibleProblems : visibleProblems.map(withoutDetails),
        services: [],
      };
    },
    subscribe: inventories.subscribe,
  };
}
