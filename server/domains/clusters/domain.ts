import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { ClusterService } from "../../../gen/hostplane/v1/cluster_pb.ts";
import type { ClustersConfig } from "../../gateway/config/schema.ts";
import { defineDomain } from "../../domain/define-domain.ts";
import type { ClusterSystem } from "./system.ts";

/** Kubernetes clusters on machines of MAAS. */
export const clustersDomain = defineDomain<"clusters", ClustersConfig, ClusterSystem>({
  name: "clusters",
  services: [{ service: Cluster }, { service: ClusterService }],
  hasEvents: true,
  off: { backend: "maas", message: "clusters are off: set `clusters` in the configuration" },
  openReal: async (config) => (await import("./open-real.ts")).openRealClusters(config),
  openSandbox: async () => (await import("./open-sandbox.ts")).openSandboxClusters(),
  serve: async (system, context) => (await import("./serve.ts")).serveClusters(system, context),
});
