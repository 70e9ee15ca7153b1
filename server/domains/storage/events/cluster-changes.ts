import type { CephHost, CephState } from "../../../../adapters/ceph/adapter.ts";
import { cephResource } from "../../../../adapters/ceph/names.ts";
import type { Part } from "../../../../adapters/host/part-of-state.ts";
import type { ObservedChanges } from "../../../events/observed-system.ts";
import type { NewEvent } from "../../../events/store/events.ts";
import { crashDifferences } from "./crash-differences.ts";
import {
  type HostOf,
  mdsDifferences,
  mgrDifferences,
  monDifferences,
  rgwDifferences,
} from "./daemon-differences.ts";
import { healthDifferences, unreachable, unreachableCluster } from "./health-differences.ts";
import { type ObservedCluster, observeCluster } from "./observed-cluster.ts";
import { osdDifferences } from "./osd-differences.ts";
import { type Space, spaceDifferences, spacesOfOsds, spacesOfPools } from "./space-differences.ts";
import type { StorageDifference } from "./storage-difference.ts";

/** Services that already expose the cluster: their callers may receive these events. */
export const services = ["stats.StatsService", "hostplane.v1.StorageService"];

/**
 * Returns the events of a cluster: health checks, then daemons, space and crashes. A part that is seen for the first time
 * yields no events, nor does a missing part until it is back. If the fsid has changed, all parts count as new.
 */
export function clusterChanges(
  published: ObservedCluster | undefined,
  state: CephState,
): ObservedChanges<ObservedCluster> {
  const before = published?.fsid === state.fsid ? published : undefined;
  const after = observeCluster(before, state);
  const hostOf = hostsOf(state.hosts);
  const osds = spaceOf(before?.nearFullOsds, mapOf(state.osdUsage, spacesOfOsds), state.osds);
  const pools = spaceOf(before?.nearFullPools, mapOf(state.pools, spacesOfPools), state.osds);
  const differences = [
    ...healthDifferences(before?.health, state),
    ...both(before?.mons, after.mons, (one, other) => monDifferences(one, other, hostOf)),
    ...both(before?.mgrs, after.mgrs, (one, other) => mgrDifferences(one, other, hostOf)),
    ...both(before?.osds, after.osds, osdDifferences),
    ...both(before?.mdss, after.mdss, (one, other) => mdsDifferences(one, other, hostOf)),
    ...both(before?.rgws, after.rgws, rgwDifferences),
    ...osds.differences,
    ...pools.differences,
    ...both(
      before?.crashes,
      mapOf(state.crashes, (crashes) => crashes),
      crashDifferences,
    ),
  ];
  return {
    observed: { ...after, nearFullOsds: osds.nearFull, nearFullPools: pools.nearFull },
    events: differences.map((difference) => eventOf(difference, state.fsid)),
  };
}

/** Returns the event for a cluster that cannot be read; undefined if that was already published. */
export function unreachableChanges(
  before: ObservedCluster,
  why: string,
): ObservedChanges<ObservedCluster> | undefined {
  const difference = unreachableCluster(before, why);
  if (difference === undefined) {
    return undefined;
  }
  const checks = [...(before.health?.checks ?? []), { code: unreachable, severity: "HEALTH_ERR" }];
  return {
    observed: { ...before, health: { status: unreachable, checks } },
    events: [eventOf(difference, before.fsid)],
  };
}

function eventOf({ type, part, detail }: StorageDifference, fsid: string): NewEvent {
  // A cluster does not belong to a host.
  return {
    topic: "storage",
    type,
    resource: cephResource(fsid, ...part),
    host: "",
    services,
    payload: detail,
  };
}

function both<T, U>(
  before: T | undefined,
  after: U | undefined,
  differencesOf: (before: T, after: U) => StorageDifference[],
): StorageDifference[] {
  return before === undefined || after === undefined ? [] : differencesOf(before, after);
}

function mapOf<T, U>(part: Part<T>, map: (value: T) => U): U | undefined {
  return "ok" in part ? map(part.ok) : undefined;
}

/** Returns the differences of space. If a part is missing, the previous ids are kept. */
function spaceOf(
  nearFull: number[] | undefined,
  spaces: readonly Space[] | undefined,
  osds: CephState["osds"],
): { readonly differences: StorageDifference[]; readonly nearFull: number[] | undefined } {
  return spaces === undefined || "missing" in osds
    ? { differences: [], nearFull }
    : spaceDifferences(nearFull, spaces, osds.ok);
}

function hostsOf(hosts: Part<readonly CephHost[]>): HostOf {
  const known = "ok" in hosts ? hosts.ok : [];
  return (daemon) => known.find(({ daemons }) => daemons.includes(daemon))?.name ?? "";
}
