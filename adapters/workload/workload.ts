import type { WorkloadAdapter, WorkloadCluster } from "./adapter.ts";
import type { Dial } from "./tls-client.ts";
import { createWorkloadCluster } from "./workload-cluster.ts";

export interface WorkloadOptions {
  /**
   * Maps addresses to actual destinations; no mapping by default. Certificates are still checked against the original
   * address.
   */
  readonly dial?: Dial;
  readonly kind?: WorkloadAdapter["kind"];
}

/** Creates the adapter for Kubernetes clusters, using their own API servers and etcd. */
export function createWorkload({ dial, kind = "real" }: WorkloadOptions = {}): WorkloadAdapter {
  const clusters = new Set<WorkloadCluster>();
  return {
    kind,
    connect(access) {
      const cluster = createWorkloadCluster(access, dial);
      const connected: WorkloadCluster = {
        ...cluster,
        async close() {
          clusters.delete(connected);
          await cluster.close();
        },
      };
      clusters.add(connected);
      return connected;
    },
    async close() {
      await Promise.all([...clusters].map((cluster) => cluster.close()));
    },
  };
}
