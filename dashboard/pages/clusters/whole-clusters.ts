import type { ClusterState, WatchClustersResponse } from "../../../gen/hostplane/v1/cluster_pb.ts";

/**
 * Yields all clusters after each message of WatchClusters, which sends all of them first and then only changes.
 * @param messages of one connection: another connection starts with all clusters again
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
