import { join } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import type { LibvirtAdapter } from "../adapters/libvirt/adapter.ts";
import { createLibvirt } from "../adapters/libvirt/libvirt.ts";
import { createLibvirtSandbox, sandboxGpu } from "../adapters/libvirt/sandbox.ts";
import { createLvm } from "../adapters/lvm/lvm.ts";
import { createLvmSandbox } from "../adapters/lvm/sandbox.ts";
import type { ResticAdapter } from "../adapters/restic/adapter.ts";
import { createRestic } from "../adapters/restic/restic.ts";
import { createResticSandbox } from "../adapters/restic/sandbox.ts";
import { idsOfPattern } from "./config/id-range.ts";
import type { Config, HypervisorsConfig } from "./config/schema.ts";
import {
  type HypervisorSettings,
  type HypervisorTemplate,
  readyWhenFrom,
} from "./domains/hypervisors/hypervisor-settings.ts";
import type { PoolBackupsOptions } from "./domains/hypervisors/pool/backups/pool-backups.ts";
import { createDirectoryPool } from "./domains/hypervisors/pool/directory-pool.ts";
import type { StoragePool } from "./domains/hypervisors/pool/storage-pool.ts";
import { createVolumeGroupPool } from "./domains/hypervisors/pool/volume-group-pool.ts";

/** What stands behind backups of the storage pool. */
export type PoolBackupSystem = Pick<PoolBackupsOptions, "system" | "restic" | "settings">;

/** What stands behind the domain of hypervisors. */
export interface HypervisorSystem {
  readonly libvirt: LibvirtAdapter;
  readonly settings: HypervisorSettings;
  /** The storage pool that they share; undefined where there is none. */
  readonly pool: StoragePool | undefined;
  /** What it is backed up with; undefined where that is not configured. */
  readonly poolBackup?: PoolBackupSystem | undefined;
  close(): Promise<void>;
}

const sandboxTemplate: Omit<HypervisorTemplate, "id"> = {
  vcpuCount: 8,
  memoryMib: 16_384,
  disk: { pool: "sandbox-pool", sizeGib: 50, backing: "sandbox-base.qcow2" },
  network: "sandbox-net",
  gpus: [],
  seed: true,
  ready: { kind: "agent" },
  readyTimeoutSeconds: 60,
};

/** What hypervisors the sandbox can make: one of them with a GPU. */
const sandboxSettings: HypervisorSettings = {
  templates: [
    ...["sandbox-hv-1", "sandbox-hv-2", "sandbox-hv-3"].map((id) => ({ id, ...sandboxTemplate })),
    { id: "sandbox-hv-4", ...sandboxTemplate, gpus: [sandboxGpu.pciAddress] },
  ],
  match: ["sandbox-old-*"],
  destroy: { graceSeconds: 0, deleteVolumes: false },
  sharedStorage: { volumeGroup: "sandbox-pool", libvirtPool: "sandbox-pool" },
};

/** A device that gives its group so much: LVM keeps the first MiB for itself. */
const sandboxDevice = (name: string, sizeGib: bigint) => ({
  path: `/dev/sandbox/pool-${name}`,
  sizeBytes: (sizeGib << 30n) + (1n << 20n),
});

/** Hypervisors and a pool that touch nothing of the host. */
export function createSandboxHypervisors(): HypervisorSystem {
  const libvirt = createLibvirtSandbox();
  const lvm = createLvmSandbox({
    volumeGroups: [
      {
        name: "sandbox-pool",
        devices: [sandboxDevice("a", 64n)],
        volumes: [{ name: "sandbox-images", sizeBytes: 40n << 30n, open: true }],
      },
    ],
    spares: [sandboxDevice("b", 1n), sandboxDevice("c", 32n)],
    moveMs: 500,
  });
  const devices = ["/dev/sandbox/pool-a", "/dev/sandbox/pool-b", "/dev/sandbox/pool-c"];
  const pool = createVolumeGroupPool({ lvm, volumeGroup: "sandbox-pool", devices, canMove: true });
  const restic = createResticSandbox();
  const poolBackup = {
    system: { kind: "volumeGroup", lvm, volumeGroup: "sandbox-pool" },
    restic,
    settings: { repository: "/sandbox/pool-backups", snapshotPercent: 10, minimumAgeHours: 0 },
  } as const;
  const close = () => closeAll(libvirt, lvm, restic);
  return { libvirt, settings: sandboxSettings, pool, poolBackup, close };
}

/** The libvirt and the pool that the configuration names. */
export function createRealHypervisors(
  config: Pick<Config, "limits" | "data" | "host">,
  hypervisors: HypervisorsConfig,
  logger: FastifyBaseLogger,
): HypervisorSystem {
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
  const restic = backup && createPoolRestic(config, backup, onToolEnd);
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

function createPoolRestic(
  { data, host }: Pick<Config, "data" | "host">,
  { restic }: NonNullable<NonNullable<HypervisorsConfig["pool"]>["backup"]>,
  onToolEnd: (event: object) => void,
): ResticAdapter {
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

/** One template for each id. */
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
