import type { CephHost, CephMons, CephOsds, CephState } from "../../../../adapters/ceph/adapter.ts";
import type { Part } from "../../../../adapters/host/part-of-state.ts";

export interface CephHostStatus {
  readonly name: string;
  readonly isReady: boolean;
}

/**
 * Returns the names of a cluster's hosts, and whether they are ready. A host with OSDs is ready if any of them is up, since
 * Ceph itself considers a host down if all its OSDs are; any other host is ready if any of its daemons is up. Ceph lists
 * monitors and OSDs even if they are down; metadata servers and managers that it lists are up.
 */
export function cephHostStatuses(state: CephState): Part<readonly CephHostStatus[]> {
  const { hosts, osds, mons } = state;
  if ("missing" in hosts) {
    return hosts;
  }
  if ("missing" in osds) {
    return osds;
  }
  if ("missing" in mons) {
    return mons;
  }
  const down = daemonsDown(osds.ok, mons.ok);
  return { ok: hosts.ok.map((host) => ({ name: host.name, isReady: isHostReady(host, down) })) };
}

function daemonsDown({ osds }: CephOsds, { names, quorum }: CephMons): ReadonlySet<string> {
  const downOsds = osds.filter(({ isUp }) => !isUp).map(({ id }) => `osd.${id}`);
  const downMons = names.filter((name) => !quorum.includes(name)).map((name) => `mon.${name}`);
  return new Set([...downOsds, ...downMons]);
}

function isHostReady({ daemons }: CephHost, down: ReadonlySet<string>): boolean {
  const osds = daemons.filter((daemon) => daemon.startsWith("osd."));
  return (osds.length > 0 ? osds : daemons).some((daemon) => !down.has(daemon));
}
