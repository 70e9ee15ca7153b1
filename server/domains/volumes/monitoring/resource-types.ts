import type { ResourceTypes } from "../../../domain/inventory-source.ts";
import { volumeServices } from "./volume-services.ts";

/** Types of the resources of the volumes. */
export const volumeResourceTypes: ResourceTypes = {
  domain: "volumes",
  types: ["volumeGroup", "volume", "thinPool"],
  services: volumeServices,
};
