import type { LibvirtAdapter } from "../../../../../adapters/libvirt/adapter.ts";
import type { LvmAdapter } from "../../../../../adapters/lvm/adapter.ts";
import type { ResticAdapter } from "../../../../../adapters/restic/adapter.ts";
import type { BackupSource } from "../../../../backups/backup-source.ts";
import { createRepositories } from "../../../../backups/repositories.ts";
import { createRepositoryKeys } from "../../../../backups/repository-keys.ts";
import { localPlace } from "../../../../backups/repository-place.ts";
import { createStoredBackups } from "../../../../backups/stored-backups.ts";
import type { Seal } from "../../../../crypto/seal.ts";
import { type BeginnableChange, registerLongChange } from "../../../../domain/long-change.ts";
import { createOperationVolumes } from "../../../../lvm/operation-volumes.ts";
import type { InlineRunner } from "../../../../operations/engine/run-inline.ts";
import { listOpen } from "../../../../operations/list-open.ts";
import type { Operations } from "../../../../operations/operations.ts";
import type { Store } from "../../../../store/store.ts";
import type { PoolRefresh } from "../changes/pool-run.ts";
import type { StoragePool } from "../storage-pool.ts";
import { createBackUpPool } from "./back-up-pool.ts";
import { poolBackupKey as configKey, type PoolBackupSettings } from "./backup-settings.ts";
import { createLibvirtRestores } from "./libvirt-restores.ts";
import { createLibvirtVolumes } from "./libvirt-volumes.ts";
import { createPoolBackupSource } from "./pool-backup-source.ts";
import type { PoolVolumes, RestoredVolumes } from "./pool-volumes.ts";
import { namesOfUnfinished, restoreKindName } from "./restore-kind.ts";
import { createVolumeGroupRestores } from "./volume-group-restores.ts";
import { createVolumeGroupVolumes } from "./volume-group-volumes.ts";

/** The system that manages the pool's volumes. */
export type PoolVolumesSystem =
  | { readonly kind: "volumeGroup"; readonly lvm: LvmAdapter; readonly volumeGroup: string }
  | {
      readonly kind: "directory";
      readonly libvirt: LibvirtAdapter;
      readonly libvirtPool: string;
      /** Directory that the libvirt pool must have. */
      readonly directory: string;
    };

export interface PoolBackupsOptions {
  readonly pool: Pick<StoragePool, "read">;
  readonly system: PoolVolumesSystem;
  readonly restic: ResticAdapter;
  readonly settings: PoolBackupSettings;
  /** Has libvirt refresh its pool after a restore; undefined if no libvirt pool is on the storage pool. */
  readonly refresh: PoolRefresh | undefined;
  readonly runner: InlineRunner;
  readonly operations: Operations;
  readonly store: Pick<Store, "run">;
  /** `createSeal(masterKeys, "repository-key")`. */
  readonly keySeal: Seal;
  /** Name of this host. */
  readonly host: string;
}

/** Backups of the storage pool. */
export interface PoolBackups {
  /** Backs up the whole pool. */
  readonly backUp: BeginnableChange<unknown>;
  /** Name of the pool in the repository. */
  readonly poolName: string;
  /** Source of backups for hostplane.v1.BackupService. */
  readonly source: BackupSource;
}

/** Creates the backups and registers their operation kinds; must run before `operations.begin`. */
export function createPoolBackups(options: PoolBackupsOptions): PoolBackups {
  const { settings, operations, store, host } = options;
  const { repository, minimumAgeHours } = settings;
  const keys = createRepositoryKeys(store, options.keySeal);
  const repositories = createRepositories({ repository, allowEndpoints: [] }, keys, configKey);
  const { volumes, restores } = volumesOf(options);
  const namesBeingRestored = async () => {
    if (options.system.kind === "volumeGroup") {
      // In a volume group, incomplete volumes have a temporary name.
      return [];
    }
    const filters = { kind: restoreKindName, host, orStates: ["needsAttention", "completed"] } as const;
    return namesOfUnfinished(await listOpen(operations, filters));
  };
  const tools = { ...options, volumes, restores, repositories, namesBeingRestored };
  const stored = createStoredBackups({
    ...tools,
    kindNames: { verify: "storagePool.verifyBackup", remove: "storagePool.deleteBackup" },
    configKey,
    minimumAgeHours,
    host,
  });
  const place = localPlace(repository);
  return {
    backUp: registerLongChange(operations, createBackUpPool({ ...tools, keys, place })),
    poolName: volumes.poolName,
    source: createPoolBackupSource({ ...tools, stored }),
  };
}

function volumesOf({ system, runner, settings }: PoolBackupsOptions): {
  readonly volumes: PoolVolumes;
  readonly restores: RestoredVolumes;
} {
  if (system.kind === "directory") {
    return { volumes: createLibvirtVolumes(system), restores: createLibvirtRestores(system) };
  }
  const { lvm, volumeGroup } = system;
  const operationVolumes = createOperationVolumes(lvm, runner);
  const { snapshotPercent } = settings;
  return {
    volumes: createVolumeGroupVolumes({ operationVolumes, volumeGroup, snapshotPercent }),
    restores: createVolumeGroupRestores({ lvm, operationVolumes, volumeGroup }),
  };
}
