import type { WorkloadAdapter, WorkloadCluster } from "./adapter.ts";
import type { Dial } from "./tls-client.ts";
import { createWorkloadCluster } from "./workload-cluster.ts";

export interface WorkloadOptions {
  /** Where connections really go; where they are said to unless told. The certificates that are checked stay the same. */
  readonly dial?: Dial;
  readonly kind?: WorkloadAdapter["kind"];
}

/** Kubernetes clusters by their own API servers, and by their etcds. */
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
