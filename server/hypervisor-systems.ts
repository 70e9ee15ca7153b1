import type { FastifyBaseLogger } from "fastify";
import type { LibvirtAdapter } from "../adapters/libvirt/adapter.ts";
import { createLibvirt } from "../adapters/libvirt/libvirt.ts";
import { createLibvirtSandbox, sandboxGpu } from "../adapters/libvirt/sandbox.ts";
import { createLvm } from "../adapters/lvm/lvm.ts";
import { createLvmSandbox } from "../adapters/lvm/sandbox.ts";
import { idsOfPattern } from "./config/id-range.ts";
import type { Config, HypervisorsConfig } from "./config/schema.ts";
import {
  type HypervisorSettings,
  type HypervisorTemplate,
  readyWhenFrom,
} from "./domains/hypervisors/hypervisor-settings.ts";
import { createDirectoryPool } from "./domains/hypervisors/pool/directory-pool.ts";
import type { StoragePool } from "./domains/hypervisors/pool/storage-pool.ts";
import { createVolumeGroupPool } from "./domains/hypervisors/pool/volume-group-pool.ts";

/** What stands behind the domain of hypervisors. */
export interface HypervisorSystem {
  readonly libvirt: LibvirtAdapter;
  readonly settings: HypervisorSettings;
  /** The storage pool that they share; undefined where there is none. */
  readonly pool: StoragePool | undefined;
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
  return { libvirt, settings: sandboxSettings, pool, close: () => closeBoth(libvirt, lvm) };
}

/** The libvirt and the pool that the configuration names. */
export function createRealHypervisors(
  config: Pick<Config, "limits">,
  hypervisors: HypervisorsConfig,
  logger: FastifyBaseLogger,
): HypervisorSystem {
  const onToolEnd = (event: object) => logger.debug({ tool: event }, "tool");
  const settings = hypervisorSettingsFrom(hypervisors);
  const libvirt = createLibvirt({ ...hypervisors.libvirt, onToolEnd });
  const { volumeGroup, directory, devices = [], lvm: lvmConfig } = hypervisors.pool ?? {};
  if (volumeGroup === undefined || lvmConfig === undefined) {
    const pool = directory === undefined ? undefined : createDirectoryPool({ directory });
    return { libvirt, settings, pool, close: () => libvirt.close() };
  }
  const { tools: maxRunning, toolsWaiting: maxWaiting } = config.limits;
  const lvm = createLvm({ ...lvmConfig, maxRunning, maxWaiting, onToolEnd });
  const canMove = lvmConfig.activation === "auto";
  const pool = createVolumeGroupPool({ lvm, volumeGroup, devices, canMove });
  return { libvirt, settings, pool, close: () => closeBoth(libvirt, lvm) };
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

async function closeBoth(...systems: readonly { close(): Promise<void> }[]): Promise<void> {
  await Promise.all(systems.map((system) => system.close()));
}
