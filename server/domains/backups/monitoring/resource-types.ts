import type { ResourceTypes } from "../../../domain/inventory-source.ts";

/** Types of the resources of the backups. */
export const backupResourceTypes: ResourceTypes = {
  domain: "backups",
  types: ["backup"],
  services: ["hostplane.v1.BackupService"],
};
