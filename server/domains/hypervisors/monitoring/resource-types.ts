import type { ResourceTypes } from "../../../domain/inventory-source.ts";

/** Types of the resources that libvirt has. */
export const hypervisorResourceTypes: ResourceTypes = {
  domain: "hypervisors",
  types: ["hypervisor"],
  services: ["operations.v1.OperationsService"],
};

/** Types of the resources of the storage pool. */
export const storagePoolResourceTypes: ResourceTypes = {
  domain: "hypervisors",
  types: ["storagePool"],
  services: ["hostplane.v1.StoragePoolService", "operations.v1.OperationsService"],
};
