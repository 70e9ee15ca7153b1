import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostUnknown, hostUnreachable, listHosts } from "../host-errors.ts";
import type { HostLink } from "../links/host-link.ts";
import { fleetReasons } from "../reasons.ts";
import type { FleetHosts } from "./fleet-hosts.ts";

/** Returns the connection of a host. @throws InfraError HOST_UNKNOWN, HOST_UNREACHABLE */
export function linkOf(hosts: FleetHosts, name: string): HostLink {
  const host = hosts.find(name);
  if (host === undefined) {
    throw hostUnknown(name, hosts.hosts());
  }
  if (host.link === undefined || host.link.closed.aborted) {
    throw hostUnreachable(name, "it is not connected to this hub");
  }
  return host.link;
}

/**
 * Returns the name of the only host that has a domain.
 * @throws InfraError HOST_REQUIRED when there are several, or none
 */
export function onlyHostWith(hosts: FleetHosts, domain: string, service: string): string {
  const having = hosts.hosts().filter(({ domains }) => domains.has(domain));
  const [only] = having;
  if (only === undefined || having.length > 1) {
    const what =
      only === undefined
        ? "no host of the fleet has it"
        : `name one of its hosts by the header hostplane-host or the path /hosts/NAME/: ${listHosts(having)}`;
    throw new InfraError(fleetReasons.HOST_REQUIRED, `${service} belongs to the hosts; ${what}`);
  }
  return only.name;
}
