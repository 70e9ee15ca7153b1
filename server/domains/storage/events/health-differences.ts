import type { CephState } from "../../../../adapters/ceph/adapter.ts";
import type { ObservedCluster } from "./observed-cluster.ts";
import type { StorageDifference } from "./storage-difference.ts";

/**
 * Returns the health checks that were raised and cleared. A change of only the summary is not a difference, since summaries change
 * constantly while data moves. A warning that becomes an error is raised again.
 */
export function healthDifferences(
  before: ObservedCluster["health"],
  { fsid, health }: Pick<CephState, "fsid" | "health">,
): StorageDifference[] {
  if (before === undefined) {
    return [];
  }
  const earlier = new Map(before.checks.map(({ code, severity }) => [code, severity]));
  const checks = health.checks.filter(({ isMuted }) => !isMuted);
  const now = new Set(checks.map(({ code }) => code));
  const raised = checks
    .filter(({ code, severity }) => earlier.get(code) !== severity && !hasEased(earlier.get(code), severity))
    .map(({ code, summary }) => `${code}: ${summary}`);
  const cleared = before.checks.map(({ code }) => code).filter((code) => !now.has(code));
  if (before.status === health.status && raised.length + cleared.length === 0) {
    return [];
  }
  const { status } = health;
  const facts = { cluster: fsid, status, previousStatus: before.status, raised, cleared };
  return [{ type: "cluster.health", part: [], detail: { clusterHealth: facts } }];
}

/** Status and check code of a cluster that cannot be read. */
export const unreachable = "UNREACHABLE";

/**
 * Returns the change of health of a cluster that can no longer be read; undefined if that was already reported, or if its
 * health is not known.
 * @param why human-readable, with the time of the last read
 */
export function unreachableCluster(before: ObservedCluster, why: string): StorageDifference | undefined {
  const { fsid, health } = before;
  if (health === undefined || health.status === unreachable) {
    return undefined;
  }
  const raised = [`${unreachable}: ${why}`];
  const facts = { cluster: fsid, status: unreachable, previousStatus: health.status, raised, cleared: [] };
  return { type: "cluster.health", part: [], detail: { clusterHealth: facts } };
}

function hasEased(before: string | undefined, after: string): boolean {
  return before === "HEALTH_ERR" && after === "HEALTH_WARN";
}
