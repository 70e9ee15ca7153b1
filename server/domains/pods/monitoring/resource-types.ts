import type { ResourceTypes } from "../../../domain/inventory-source.ts";

/** Types of the resources of the pods. */
export const podResourceTypes: ResourceTypes = {
  domain: "pods",
  types: ["pod", "image"],
  services: ["hostplane.v1.PodService", "v1alpha.PublicAPI"],
};
