import type { LvmAdapter } from "../../../../adapters/lvm/adapter.ts";
import type { ResticAdapter } from "../../../../adapters/restic/adapter.ts";
import type { BackupSource } from "../../../backups/backup-source.ts";
import { createRepositories } from "../../../backups/repositories.ts";
import { createRepositoryKeys } from "../../../backups/repository-keys.ts";
import { createStoredBackups } from "../../../backups/stored-backups.ts";
import type { Seal } from "../../../crypto/seal.ts";
import { registerLongChange } from "../../../domain/long-change.ts";
import type { Events } from "../../../events/events.ts";
import { createOperationVolumes } from "../../../lvm/operation-volumes.ts";
import type { InlineRunner } from "../../../operations/engine/run-inline.ts";
import type { Operations } from "../../../operations/operations.ts";
import type { Store } from "../../../store/store.ts";
import { createCreateVolume } from "../changes/create-volume.ts";
import type { DeviceClass } from "../device-class.ts";
import { createBackUpVolume } from "./back-up-volume.ts";
import { createBackupKind } from "./backup-kind.ts";
import type { BackupParts } from "./backup-parts.ts";
import { type BackupSettings, backupConfigKey as configKey } from "./backup-settings.ts";
import { type CreateBackup, createCreateBackup } from "./create-backup.ts";
import { createRestoreKind } from "./restore-kind.ts";
import { createRestoreFromSource, createRestoreVolume } from "./restore-volume.ts";
import {
  type BackupSchedules,
  type BackupSchedulesLog,
  createBackupSchedules,
} from "./schedules/backup-schedules.ts";
import { createRetentionKind } from "./schedules/retention-kind.ts";
import { createVolumeBackupSource } from "./volume-backup-source.ts";

export interface VolumeBackupsOptions {
  readonly lvm: LvmAdapter;
  readonly restic: ResticAdapter;
  readonly deviceClasses: readonly DeviceClass[];
  readonly settings: BackupSettings;
  /** The runner of `volumes.ts`: calls and backup operations run through it one after another. */
  readonly runner: InlineRunner;
  readonly operations: Operations;
  readonly events: Pick<Events, "follow">;
  readonly store: Pick<Store, "run">;
  /** `createSeal(masterKeys, "repository-key")`. */
  readonly keySeal: Seal;
  /** Name of this host. */
  readonly host: string;
  readonly log: BackupSchedulesLog;
}

/** Backups of the volumes of this host. */
export interface VolumeBackups {
  readonly createBackup: CreateBackup;
  /** CreateLV with a data source. */
  readonly restore: ReturnType<typeof createRestoreFromSource>;
  /** Source of backups for hostplane.v1.BackupService. */
  readonly source: BackupSource;
  readonly schedules: BackupSchedules;
}

/** Creates the backups and registers their operation kinds; must run before `operations.begin`. */
export function createVolumeBackups(options: VolumeBackupsOptions): VolumeBackups {
  const { lvm, restic, deviceClasses, settings, operations, store } = options;
  const keys = createRepositoryKeys(store, options.keySeal);
  const repositories = createRepositories(settings, keys, configKey);
  const operationVolumes = createOperationVolumes(lvm, options.runner);
  const parts: BackupParts = { ...options, keys, repositories };
  const tools = { operationVolumes, restic, repositories, store };
  const creation = createCreateVolume({ lvm, deviceClasses });

  const backUpVolume = registerLongChange(operations, createBackUpVolume(parts, createBackupKind(tools)));
  const restore = registerLongChange(
    operations,
    createRestoreVolume(parts, creation, createRestoreKind({ ...tools, deviceClasses })),
  );
  const retention = operations.register(createRetentionKind(tools));

  const stored = createStoredBackups({
    ...tools,
    operations,
    kindNames: { verify: "volumes.verifyBackup", remove: "volumes.deleteBackup" },
    configKey,
    minimumAgeHours: settings.minimumAgeHours,
    host: options.host,
  });

  return {
    createBackup: createCreateBackup(parts, backUpVolume),
    restore: createRestoreFromSource(parts, restore),
    source: createVolumeBackupSource(stored, restore),
    schedules: createBackupSchedules({ ...parts, log: options.log }, backUpVolume, retention),
  };
}
