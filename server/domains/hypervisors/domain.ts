import { StoragePoolService } from "../../../gen/hostplane/v1/storage_pool_pb.ts";
import { OperationsService } from "../../../gen/operations/v1/operations_pb.ts";
import type { HypervisorsConfig } from "../../gateway/config/schema.ts";
import { defineDomain } from "../../domain/define-domain.ts";
import { poolBackupFacts } from "./pool/backups/backup-facts.ts";
import type { HypervisorSystem } from "./system.ts";

/** VMs of this host's libvirt that host desktops, and the storage pool that they share. */
export const hypervisorsDomain = defineDomain<"hypervisors", HypervisorsConfig, HypervisorSystem>({
  name: "hypervisors",
  services: [{ service: OperationsService }, { service: StoragePoolService }],
  isHostBound: true,
  hasEvents: true,
  off: { backend: "libvirt", message: "hypervisors are off: set `hypervisors` in the configuration" },
  backupSource: poolBackupFacts,
  openReal: async (config, environment) =>
    (await import("./open-real.ts")).openRealHypervisors(config, environment),
  openSandbox: async () => (await import("./open-sandbox.ts")).openSandboxHypervisors(),
  serve: async (system, context) => (await import("./serve.ts")).serveHypervisors(system, context),
});
