import { StoragePoolService } from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import { OperationsService } from "../../../gen/operations/v1/operations_pb.ts";
import { defineDomain } from "../../domain/define-domain.ts";
import { hypervisorCallReasons } from "./call-reasons.ts";
import { hypervisorsSchema } from "./config.ts";
import { hypervisorResourceTypes, storagePoolResourceTypes } from "./monitoring/resource-types.ts";
import { poolBackupFacts } from "./pool/backups/backup-facts.ts";
import type { HypervisorSystem } from "./system/system.ts";

/** VMs of this host's libvirt that host desktops, and the storage pool that they share. */
export const hypervisorsDomain = defineDomain<"hypervisors", typeof hypervisorsSchema, HypervisorSystem>({
  name: "hypervisors",
  services: [{ service: OperationsService }, { service: StoragePoolService }],
  resourceTypes: [hypervisorResourceTypes, storagePoolResourceTypes],
  isHostBound: true,
  hasEvents: true,
  config: {
    schema: hypervisorsSchema,
    description:
      "Hypervisors in this host's libvirt, and the storage pool that they share (`operations.v1.OperationsService`). Off if absent.",
  },
  off: { backend: "libvirt", message: "hypervisors are off: set `hypervisors` in the configuration" },
  backupSource: poolBackupFacts,
  reasons: hypervisorCallReasons,
  openReal: async (config, environment) =>
    (await import("./system/open-real.ts")).openRealHypervisors(config, environment),
  openSandbox: async (world) => (await import("./system/open-sandbox.ts")).openSandboxHypervisors(world),
  inspect: async (config, environment) =>
    (await import("./doctor/doctor.ts")).inspectHypervisors(config, environment),
  serve: async (system, context) => (await import("./serve.ts")).serveHypervisors(system, context),
});
