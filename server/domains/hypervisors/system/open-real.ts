import { join } from "node:path";
import { createLibvirt } from "../../../../adapters/libvirt/libvirt.ts";
import { createLvm } from "../../../../adapters/lvm/lvm.ts";
import type { ResticAdapter } from "../../../../adapters/restic/adapter.ts";
import type { Environment } from "../../../domain/define-domain.ts";
import type { HypervisorsConfig } from "../config.ts";
import { type HypervisorSettings, readyWhenFrom } from "../hypervisor-settings.ts";
import { idsOfPattern } from "../id-range.ts";
import { createDirectoryPool } from "../pool/directory-pool.ts";
import { createVolumeGroupPool } from "../pool/volume-group-pool.ts";
import type { HypervisorSystem, PoolBackupSystem } from "./system.ts";

/** Creates the configured libvirt and storage pool. */
export async function openRealHypervisors(
  hypervisors: HypervisorsConfig,
  environment: Environment,
): Promise<HypervisorSystem> {
  const { tools, onToolEnd } = environment;
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
  const restic = backup && (await createPoolRestic(environment, backup));
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
  const lvm = createLvm({ ...lvmConfig, ...tools, onToolEnd });
  const canMove = lvmConfig.activation === "auto";
  const pool = createVolumeGroupPool({ lvm, volumeGroup, devices, canMove });
  const poolBackup = backupOf({ kind: "volumeGroup", lvm, volumeGroup });
  return { libvirt, settings, pool, poolBackup, close: () => closeAll(libvirt, lvm, ...one(restic)) };
}

async function createPoolRestic(
  { dataDirectory, host, onToolEnd }: Environment,
  { restic }: NonNullable<NonNullable<HypervisorsConfig["pool"]>["backup"]>,
): Promise<ResticAdapter> {
  const { createRestic } = await import("../../../../adapters/restic/restic.ts");
  return createRestic({
    command: restic.command,
    cacheDir: restic.cacheDir ?? join(dataDirectory, "restic-cache"),
    ...(host === undefined ? {} : { hostname: host }),
    onToolEnd,
  });
}

function one<T>(item: T | undefined): readonly T[] {
  return item === undefined ? [] : [item];
}

/** Converts the configuration; the result has one template per id. */
function hypervisorSettingsFrom(config: HypervisorsConfig): HypervisorSettings {
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
