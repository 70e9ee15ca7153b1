import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { HostLink } from "../links/host-link.ts";
import { fleetReasons } from "../reasons.ts";
import type { FleetHosts } from "./fleet-hosts.ts";

/** Returns the connection of a host. @throws InfraError HOST_UNKNOWN, HOST_UNREACHABLE */
export function linkOf(hosts: FleetHosts, name: string): HostLink {
  const host = hosts.find(name);
  if (host === undefined) {
    const message = `the fleet has no host ${name}; its hosts are ${listOf(hosts.hosts())}`;
    throw new InfraError(fleetReasons.HOST_UNKNOWN, message);
  }
  if (host.link === undefined || host.link.closed.aborted) {
    throw new InfraError(fleetReasons.HOST_UNREACHABLE, `the host ${name} is not connected to this hub`);
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
        : `name one of its hosts by the header hostplane-host or the path /hosts/NAME/: ${listOf(having)}`;
    throw new InfraError(fleetReasons.HOST_REQUIRED, `${service} belongs to the hosts; ${what}`);
  }
  return only.name;
}

const listedMax = 50;

function listOf(hosts: readonly { readonly name: string }[]): string {
  const names = hosts.map(({ name }) => name);
  const more = names.length - listedMax;
  return names.length === 0
    ? "none"
    : [...names.slice(0, listedMax), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}
