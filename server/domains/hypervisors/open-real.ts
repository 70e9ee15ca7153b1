import { join } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import type { LibvirtAdapter } from "../../../adapters/libvirt/adapter.ts";
import type { ResticAdapter } from "../../../adapters/restic/adapter.ts";
import { idsOfPattern } from "../../config/id-range.ts";
import type { Config, HypervisorsConfig } from "../../config/schema.ts";
import { type HypervisorSettings, readyWhenFrom } from "./hypervisor-settings.ts";
import type { PoolBackupsOptions } from "./pool/backups/pool-backups.ts";
import type { StoragePool } from "./pool/storage-pool.ts";

/** The systems behind backups of the storage pool. */
export type PoolBackupSystem = Pick<PoolBackupsOptions, "system" | "restic" | "settings">;

/** The systems behind the hypervisors domain. */
export interface HypervisorSystem {
  readonly libvirt: LibvirtAdapter;
  readonly settings: HypervisorSettings;
  /** The storage pool that they share; undefined if none is configured. */
  readonly pool: StoragePool | undefined;
  /** How the pool is backed up; undefined if backups are not configured. */
  readonly poolBackup?: PoolBackupSystem | undefined;
  close(): Promise<void>;
}

/** Creates the configured libvirt and storage pool. */
export async function createRealHypervisors(
  config: Pick<Config, "limits" | "data" | "host">,
  hypervisors: HypervisorsConfig,
  logger: FastifyBaseLogger,
): Promise<HypervisorSystem> {
  const [{ createLibvirt }, { createLvm }, { createDirectoryPool }, { createVolumeGroupPool }] =
    await Promise.all([
      import("../../../adapters/libvirt/libvirt.ts"),
      import("../../../adapters/lvm/lvm.ts"),
      import("./pool/directory-pool.ts"),
      import("./pool/volume-group-pool.ts"),
    ]);
  const onToolEnd = (event: object) => logger.debug({ tool: event }, "tool");
  const settings = hypervisorSettingsFrom(hypervisors);
  const libvirt = createLibvirt({ ...hypervisors.libvirt, onToolEnd });
  const {
    volumeGroup,
    directory,
    libvirtPool,
    devices = [],
    lvm: lvmConfig,
    backup,
  } = hypervisors.pool ?? {};
  const restic = backup && (await createPoolRestic(config, backup, onToolEnd));
  const backupOf = (system: PoolBackupSystem["system"]) =>
    backup && restic && { system, restic, settings: backup };
  if (volumeGroup === undefined || lvmConfig === undefined) {
    const pool = directory === undefined ? undefined : createDirectoryPool({ directory });
    const poolBackup =
      directory === undefined || libvirtPool === undefined
        ? undefined
        : backupOf({ kind: "directory", libvirt, libvirtPool, directory });
    return { libvirt, settings, pool, poolBackup, close: () => closeAll(libvirt, ...one(restic)) };
  }
  const { tools: maxRunning, toolsWaiting: maxWaiting } = config.limits;
  const lvm = createLvm({ ...lvmConfig, maxRunning, maxWaiting, onToolEnd });
  const canMove = lvmConfig.activation === "auto";
  const pool = createVolumeGroupPool({ lvm, volumeGroup, devices, canMove });
  const poolBackup = backupOf({ kind: "volumeGroup", lvm, volumeGroup });
  return { libvirt, settings, pool, poolBackup, close: () => closeAll(libvirt, lvm, ...one(restic)) };
}

async function createPoolRestic(
  { data, host }: Pick<Config, "data" | "host">,
  { restic }: NonNullable<NonNullable<HypervisorsConfig["pool"]>["backup"]>,
  onToolEnd: (event: object) => void,
): Promise<ResticAdapter> {
  const { createRestic } = await import("../../../adapters/restic/restic.ts");
  return createRestic({
    command: restic.command,
    cacheDir: restic.cacheDir ?? join(data, "restic-cache"),
    ...(host === undefined ? {} : { hostname: host }),
    onToolEnd,
  });
}

function one<T>(item: T | undefined): readonly T[] {
  return item === undefined ? [] : [item];
}

/** Converts the configuration; the result has one template per id. */
export function hypervisorSettingsFrom(config: HypervisorsConfig): HypervisorSettings {
  const { templates, match, destroy, pool } = config;
  return {
    templates: templates.flatMap(({ ids, vcpus: vcpuCount, ready, ...facts }) =>
      (idsOfPattern(ids) ?? []).map((id) => ({ id, vcpuCount, ...facts, ready: readyWhenFrom(ready) })),
    ),
    match,
    destroy,
    ...(pool === undefined ? {} : { sharedStorage: pool }),
  };
}

async function closeAll(...systems: readonly { close(): Promise<void> }[]): Promise<void> {
  await Promise.all(systems.map((system) => system.close()));
}
