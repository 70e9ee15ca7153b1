import { join } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import type { LvmAdapter } from "../../adapters/lvm/adapter.ts";
import type { ResticAdapter } from "../../adapters/restic/adapter.ts";
import { type ClusterSystem, createRealClusters } from "../domains/clusters/open-real.ts";
import type { Config, VolumesConfig } from "../config/schema.ts";
import type { BackupSettings } from "../domains/volumes/backups/backup-settings.ts";
import type { DeviceClass, LvcreateOptionClass } from "../domains/volumes/device-class.ts";
import { createRealHypervisors, type HypervisorSystem } from "../domains/hypervisors/open-real.ts";
import { createRealPods, type PodSystem } from "../domains/pods/open-real.ts";
import { createRealStorage, type StorageSystem } from "../domains/storage/open-real.ts";

/** The systems behind the domains; undefined where a domain is off. */
export interface Systems {
  readonly volumes:
    | {
        readonly lvm: LvmAdapter;
        readonly deviceClasses: readonly DeviceClass[];
        readonly lvcreateOptionClasses?: readonly LvcreateOptionClass[];
        readonly protect: readonly string[];
        /** Free share below which a volume group or thin pool is reported as low on space, in percent. */
        readonly lowSpacePercent: number;
        /** Undefined if backups are off. */
        readonly backup?: { readonly restic: ResticAdapter; readonly settings: BackupSettings } | undefined;
      }
    | undefined;
  readonly hypervisors?: HypervisorSystem | undefined;
  readonly storage?: StorageSystem | undefined;
  readonly pods?: PodSystem | undefined;
  readonly clusters?: ClusterSystem | undefined;
  close(): Promise<void>;
}

/** Creates the configured systems. The code of others is not loaded. */
export async function createRealSystems(config: Config, logger: FastifyBaseLogger): Promise<Systems> {
  const opened: { close(): Promise<void> }[] = [];
  const volumes = config.volumes && (await createRealVolumes(config, config.volumes, logger, opened));
  const hypervisors = config.hypervisors && (await createRealHypervisors(config, config.hypervisors, logger));
  const storage = config.storage && (await createRealStorage(config.storage));
  const pods = config.pods && (await createRealPods(config.pods));
  const clusters = config.clusters && (await createRealClusters(config.clusters));
  const all = [...opened, ...[hypervisors ?? [], storage ?? [], pods ?? [], clusters ?? []].flat()];
  return { volumes, hypervisors, storage, pods, clusters, close: () => closeAll(...all) };
}

async function createRealVolumes(
  config: Config,
  volumes: VolumesConfig,
  logger: FastifyBaseLogger,
  opened: { close(): Promise<void> }[],
): Promise<Systems["volumes"]> {
  const { createLvm } = await import("../../adapters/lvm/lvm.ts");
  const onToolEnd = (event: object) => logger.debug({ tool: event }, "tool");
  const lvm = createLvm({
    ...volumes.lvm,
    maxRunning: config.limits.tools,
    maxWaiting: config.limits.toolsWaiting,
    onToolEnd,
  });
  opened.push(lvm);
  const { deviceClasses, lvcreateOptionClasses, protect, lowSpacePercent, backup } = volumes;
  const system = { lvm, deviceClasses, lvcreateOptionClasses, protect, lowSpacePercent };
  if (backup === undefined) {
    return system;
  }
  const { createRestic } = await import("../../adapters/restic/restic.ts");
  const restic = createRestic({
    command: backup.restic.command,
    cacheDir: backup.restic.cacheDir ?? join(config.data, "restic-cache"),
    ...(config.host === undefined ? {} : { hostname: config.host }),
    onToolEnd,
  });
  opened.push(restic);
  return { ...system, backup: { restic, settings: backup } };
}

/** Closes all of them in parallel. */
export async function closeAll(...systems: readonly { close(): Promise<void> }[]): Promise<void> {
  await Promise.all(systems.map((system) => system.close()));
}
