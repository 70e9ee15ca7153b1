import { join } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import type { LvmAdapter } from "../adapters/lvm/adapter.ts";
import { createLvm } from "../adapters/lvm/lvm.ts";
import { createLvmSandbox } from "../adapters/lvm/sandbox.ts";
import type { ResticAdapter } from "../adapters/restic/adapter.ts";
import { createRestic } from "../adapters/restic/restic.ts";
import { createResticSandbox } from "../adapters/restic/sandbox.ts";
import { type ClusterSystem, createRealClusters, createSandboxClusters } from "./cluster-systems.ts";
import type { Config, VolumesConfig } from "./config/schema.ts";
import type { BackupSettings } from "./domains/volumes/backups/backup-settings.ts";
import type { DeviceClass } from "./domains/volumes/device-class.ts";
import {
  createRealHypervisors,
  createSandboxHypervisors,
  type HypervisorSystem,
} from "./hypervisor-systems.ts";
import { createRealPods, createSandboxPods, type PodSystem } from "./pod-systems.ts";
import { createRealStorage, createSandboxStorage, type StorageSystem } from "./storage-systems.ts";

/** The systems behind the domains; undefined where a domain is off. */
export interface Systems {
  readonly volumes:
    | {
        readonly lvm: LvmAdapter;
        readonly deviceClasses: readonly DeviceClass[];
        readonly protect: readonly string[];
        /** A volume group or thin pool with less free space is told to be low. */
        readonly lowSpacePercent: number;
        /** Undefined where backups are off. */
        readonly backup?: { readonly restic: ResticAdapter; readonly settings: BackupSettings } | undefined;
      }
    | undefined;
  readonly hypervisors?: HypervisorSystem | undefined;
  readonly storage?: StorageSystem | undefined;
  readonly pods?: PodSystem | undefined;
  readonly clusters?: ClusterSystem | undefined;
  close(): Promise<void>;
}

/** The device class of the sandbox; its name says what it is wherever it is shown. */
const sandboxClass: DeviceClass = {
  name: "sandbox-ssd",
  volumeGroup: "sandbox-vg",
  default: true,
  spareGiB: 1,
};

/** How backups can be tried in the sandbox: neither the directory nor the endpoint is real. */
const sandboxBackups: BackupSettings = {
  repository: "/sandbox/backups",
  snapshotPercent: 10,
  allowEndpoints: [{ url: "https://s3.sandbox.invalid", proxies: [], unverifiedTls: false }],
  minimumAgeHours: 0,
};

/** Systems that touch nothing of the host. */
export function createSandboxSystems(): Systems {
  const lvm = createLvmSandbox();
  const restic = createResticSandbox();
  const hypervisors = createSandboxHypervisors();
  const storage = createSandboxStorage();
  const pods = createSandboxPods();
  const clusters = createSandboxClusters();
  return {
    volumes: {
      lvm,
      deviceClasses: [sandboxClass],
      protect: [],
      lowSpacePercent: 10,
      backup: { restic, settings: sandboxBackups },
    },
    hypervisors,
    storage,
    pods,
    clusters,
    close: () => closeAll(lvm, restic, hypervisors, storage, pods, clusters),
  };
}

/** The systems the configuration names. */
export async function createRealSystems(config: Config, logger: FastifyBaseLogger): Promise<Systems> {
  const opened: { close(): Promise<void> }[] = [];
  const volumes = config.volumes && createRealVolumes(config, config.volumes, logger, opened);
  const hypervisors = config.hypervisors && createRealHypervisors(config, config.hypervisors, logger);
  const storage = config.storage && (await createRealStorage(config.storage));
  const pods = config.pods && createRealPods(config.pods);
  const clusters = config.clusters && (await createRealClusters(config.clusters));
  const all = [...opened, ...[hypervisors ?? [], storage ?? [], pods ?? [], clusters ?? []].flat()];
  return { volumes, hypervisors, storage, pods, clusters, close: () => closeAll(...all) };
}

function createRealVolumes(
  config: Config,
  volumes: VolumesConfig,
  logger: FastifyBaseLogger,
  opened: { close(): Promise<void> }[],
): Systems["volumes"] {
  const onToolEnd = (event: object) => logger.debug({ tool: event }, "tool");
  const lvm = createLvm({
    ...volumes.lvm,
    maxRunning: config.limits.tools,
    maxWaiting: config.limits.toolsWaiting,
    onToolEnd,
  });
  opened.push(lvm);
  const { deviceClasses, protect, lowSpacePercent, backup } = volumes;
  if (backup === undefined) {
    return { lvm, deviceClasses, protect, lowSpacePercent };
  }
  const restic = createRestic({
    command: backup.restic.command,
    cacheDir: backup.restic.cacheDir ?? join(config.data, "restic-cache"),
    ...(config.host === undefined ? {} : { hostname: config.host }),
    onToolEnd,
  });
  opened.push(restic);
  return { lvm, deviceClasses, protect, lowSpacePercent, backup: { restic, settings: backup } };
}

async function closeAll(...systems: readonly { close(): Promise<void> }[]): Promise<void> {
  await Promise.all(systems.map((system) => system.close()));
}
