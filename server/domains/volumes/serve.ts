import { VolumeService } from "../../../gen/hostplane/v1/volume_pb.ts";
import { LVService } from "../../../gen/lvmd/served/lvmd_pb.ts";
import { createAbsentBackupSource } from "../../backups/backup-source.ts";
import { createAbsentResticBackend, createResticBackend } from "../../backups/restic-backend.ts";
import { plannersOf } from "../../domain/change.ts";
import type { DomainContext, DomainServices } from "../../domain/domain-services.ts";
import { createVolumeAccess } from "./access.ts";
import { volumeBackupFacts } from "./backups/backup-facts.ts";
import { createVolumeBackups } from "./backups/volume-backups.ts";
import { createLvChanges } from "./changes/lv-changes.ts";
import { createVolumeChanges } from "./changes/volume-changes.ts";
import { serveCsi } from "./csi/serve-csi.ts";
import { createOwnChanges } from "./events/own-changes.ts";
import { observeVolumeChanges } from "./events/volume-observer.ts";
import { createThickClones } from "./long-changes/thick-clones.ts";
import { createLvmBackend } from "./monitoring/backend.ts";
import { createDeviceClassFigures } from "./monitoring/figures.ts";
import { createVolumeMetrics } from "./monitoring/metrics.ts";
import { createVolumeResources } from "./monitoring/resources.ts";
import { createScheduleMetrics } from "./monitoring/schedule-metrics.ts";
import { createLvService, createVgService } from "./service.ts";
import type { VolumeSystem } from "./system/system.ts";
import { createVolumeService } from "./volume-service/volume-service.ts";
import { createVolumeServiceChanges } from "./volume-service/volume-service-changes.ts";
import { createVolumes } from "./volumes.ts";

/** Creates the services for the LVM volumes of this host. */
export function serveVolumes(system: VolumeSystem, context: DomainContext): DomainServices {
  const own = createOwnChanges(system.lvm);
  const { lvm } = own;
  const volumes = createVolumes({ ...system, lvm });
  const { backup } = system;
  const mounts = system.csi?.mounts;
  const keySeal = context.repositoryKeySeal;
  const backups = backup && createVolumeBackups({ ...context, ...system, ...backup, lvm, keySeal });
  const changes = createLvChanges(
    createVolumeChanges({ ...context, ...system, lvm, volumes, mounts }),
    backups,
  );
  const thickClones = createThickClones({ ...context, ...system, lvm });
  const serviceChanges = createVolumeServiceChanges({ ...context, ...system, lvm, thickClones, mounts });
  const csi = serveCsi(system, { lvm, volumes, thickClones }, context);
  const onFailed = (error: unknown) =>
    context.log.warn("events of volumes could not be published; retrying", error);
  return {
    registrations: [
      createLvService(changes),
      createVgService(volumes),
      createVolumeService(volumes, serviceChanges),
      ...csi.registrations,
    ],
    planners: [plannersOf(LVService, changes), plannersOf(VolumeService, serviceChanges), ...csi.planners],
    access: createVolumeAccess(volumes),
    inventory: [createVolumeResources(system.lvm, system.deviceClasses)],
    figures: [createDeviceClassFigures(system.lvm, system.deviceClasses)],
    metrics: [
      createVolumeMetrics(system.lvm, system.deviceClasses),
      ...(backup === undefined
        ? []
        : [createScheduleMetrics({ ...context, ...system, schedules: backup.settings.schedules ?? [] })]),
    ],
    backends: [
      createLvmBackend(system.lvm, volumes),
      backup === undefined
        ? createAbsentResticBackend("volumes", volumeBackupFacts.configKey)
        : createResticBackend({ ...context, ...backup, domain: "volumes", kindStart: "volumes" }),
    ],
    backupSource: backups?.source ?? createAbsentBackupSource(volumeBackupFacts),
    ...(backups === undefined ? {} : { beginSchedules: backups.schedules.begin }),
    observe: () => observeVolumeChanges({ ...context, ...system, own, onFailed }),
  };
}
