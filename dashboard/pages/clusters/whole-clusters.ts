import type { ClusterState, WatchClustersResponse } from "../../../gen/hostplane/v1/cluster_pb.ts";

/**
 * All clusters after each message of WatchClusters, which tells all of them first and then only what has changed.
 * @param messages of one connection: another one begins with all again
 */
export async function* wholeClusters(
  messages: AsyncIterable<WatchClustersResponse>,
): AsyncGenerator<readonly ClusterState[]> {
  const byName = new Map<string, ClusterState>();
  for await (const { clusters, removed } of messages) {
    for (const name of removed) {
      byName.delete(name);
    }
    for (const cluster of clusters) {
      byName.set(cluster.name, cluster);
    }
    yield [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  }
}
