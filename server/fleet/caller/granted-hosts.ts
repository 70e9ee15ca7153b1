import type { GrantedHost } from "../../rpc/access/grant.ts";
import type { Call } from "../../rpc/call/call.ts";
import type { FleetHosts } from "../forward/fleet-hosts.ts";

/** Hosts that can be listed and found, such as those of a hub. */
export interface ListedHosts<Host extends GrantedHost> {
  list(): readonly Host[];
  find(name: string): Host | undefined;
}

/** Returns the hosts that the caller's grants cover. The others do not exist for it. */
export function grantedFleetHosts(hosts: FleetHosts, call: Pick<Call, "caller">): FleetHosts {
  const { list, find } = grantedHosts({ list: hosts.hosts, find: hosts.find }, call);
  return { hosts: list, find };
}

/** As `grantedFleetHosts`. */
export function grantedHosts<Host extends GrantedHost>(
  { list, find }: ListedHosts<Host>,
  { caller }: Pick<Call, "caller">,
): ListedHosts<Host> {
  const { grants } = caller.current();
  if (grants === undefined) {
    return { list, find };
  }
  return {
    list: () => list().filter(grants.coversHost),
    find(name) {
      const host = find(name);
      return host !== undefined && grants.coversHost(host) ? host : undefined;
    },
  };
}
