import type { ResourceTypes } from "../../../domain/inventory-source.ts";

/** Types of the resources of the clusters. */
export const clusterResourceTypes: ResourceTypes = {
  domain: "clusters",
  types: ["cluster"],
  services: ["cnct.kaas.api.Cluster", "hostplane.v1.ClusterService"],
};
