import type { ResourceTypes } from "../../../domain/inventory-source.ts";

/** Types of the resources of the storage cluster. */
export const storageResourceTypes: ResourceTypes = {
  domain: "storage",
  types: ["cephCluster", "cephHost", "osd", "cephPool"],
  services: ["stats.StatsService", "hostplane.v1.StorageService"],
};
