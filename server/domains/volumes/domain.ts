import { mountReasons } from "../../../adapters/mounts/reasons.ts";
import { BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { VolumeService } from "../../../gen/hostplane/v1/volume_pb.ts";
import { LVService, VGService } from "../../../gen/lvmd/served/lvmd_pb.ts";
import { defineDomain } from "../../domain/define-domain.ts";
import { volumeBackupFacts } from "./backups/backup-facts.ts";
import { volumeCallReasons } from "./call-reasons.ts";
import { volumesSchema } from "./config.ts";
import { csiManifests } from "./csi/csi-manifests.ts";
import { volumeResourceTypes } from "./monitoring/resource-types.ts";
import { shownLvServices, shownVgServices } from "./shown-services.ts";
import type { VolumeSystem } from "./system/system.ts";

/** LVM volumes of this host, over both lvmd protocols and the gateway's own, and their backups. */
export const volumesDomain = defineDomain<"volumes", typeof volumesSchema, VolumeSystem>({
  name: "volumes",
  services: [
    { service: LVService, shown: shownLvServices, reasons: { RemoveLV: [mountReasons.MOUNTS_UNAVAILABLE] } },
    { service: VGService, shown: shownVgServices, rules: { Watch: { repeatable: true } } },
    { service: VolumeService, reasons: { DeleteVolume: [mountReasons.MOUNTS_UNAVAILABLE] } },
    ...csiManifests,
  ],
  resourceTypes: [volumeResourceTypes],
  isHostBound: true,
  hasEvents: true,
  config: {
    schema: volumesSchema,
    description:
      "LVM volumes of this host (`hostplane.v1.VolumeService` and the services of package `proto`). Off if absent.",
  },
  off: {
    backend: "lvm",
    message: "volumes are off: set `volumes.deviceClasses` in the configuration",
    furtherServices: [BackupService],
  },
  backupSource: volumeBackupFacts,
  reasons: volumeCallReasons,
  openReal: async (config, environment) =>
    (await import("./system/open-real.ts")).openRealVolumes(config, environment),
  openSandbox: async (world) => (await import("./system/open-sandbox.ts")).openSandboxVolumes(world),
  inspect: async (config, environment) =>
    (await import("./doctor/doctor.ts")).inspectVolumes(config, environment),
  serve: async (system, context) => (await import("./serve.ts")).serveVolumes(system, context),
});
