import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { ClusterService } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { defineDomain } from "../../domain/define-domain.ts";
import { clusterCallReasons } from "./call-reasons.ts";
import { clustersSchema } from "./config.ts";
import { clusterResourceTypes } from "./monitoring/resource-types.ts";
import type { ClusterSystem } from "./system/system.ts";

/** Kubernetes clusters on machines of MAAS. */
export const clustersDomain = defineDomain<"clusters", typeof clustersSchema, ClusterSystem>({
  name: "clusters",
  services: [{ service: Cluster }, { service: ClusterService }],
  resourceTypes: [clusterResourceTypes],
  hasEvents: true,
  config: {
    schema: clustersSchema,
    description: "Kubernetes clusters on MAAS machines (`cnct.kaas.api.Cluster`). Off if absent.",
  },
  off: { backend: "maas", message: "clusters are off: set `clusters` in the configuration" },
  reasons: clusterCallReasons,
  openReal: async (config) => (await import("./system/open-real.ts")).openRealClusters(config),
  openSandbox: async (world) => (await import("./system/open-sandbox.ts")).openSandboxClusters(world),
  inspect: async (config) => (await import("./doctor/doctor.ts")).inspectClusters(config),
  serve: async (system, context) => (await import("./serve.ts")).serveClusters(system, context),
});
