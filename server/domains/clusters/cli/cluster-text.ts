import { ClusterStatus } from "../../../../gen/cnct/kaas/api/api_pb.ts";
import type { ClusterPool, ClusterState } from "../../../../gen/hostplane/v1/cluster_pb.ts";
import { printableLine } from "../../../cli/table/printable-line.ts";

/** Returns the name of a cluster's status as in the API, which is used everywhere else too. */
export function statusText({ status }: Pick<ClusterState, "status">): string {
  return Object.entries(ClusterStatus).find(([, each]) => each === status)?.[0] ?? String(status);
}

/** Formats a cluster as one line. */
export function clusterSummary(cluster: ClusterState): string {
  const { name, statusMessage } = cluster;
  const rest = statusMessage === "" ? "" : `: ${statusMessage}`;
  return printableLine(`${name} ${statusText(cluster)} ${nodesText(poolsOf(cluster))}${rest}`);
}

/** Returns the control plane and the pools of a cluster. */
export function poolsOf({ controlPlane, pools }: ClusterState): readonly ClusterPool[] {
  return [...(controlPlane === undefined ? [] : [controlPlane]), ...pools];
}

/** Formats how many of the nodes in the spec are ready: `2/3`. */
export function nodesText(pools: readonly ClusterPool[]): string {
  const sum = (pick: (pool: ClusterPool) => number) => pools.reduce((total, pool) => total + pick(pool), 0);
  return `${sum(({ ready }) => ready)}/${sum(({ wanted }) => wanted)}`;
}

/** Returns the name of a pool. The control plane, which the API lists as a pool, has none. */
export function poolName(name: string): string {
  return name === "" ? "control plane" : name;
}
