import { join } from "node:path";
import { createLvm } from "../../../../adapters/lvm/lvm.ts";
import { createMounts } from "../../../../adapters/mounts/mounts.ts";
import type { Environment } from "../../../domain/define-domain.ts";
import type { VolumesConfig } from "../config.ts";
import type { VolumeSystem } from "./system.ts";

/** Opens the host's LVM, and restic if backups are configured. */
export async function openRealVolumes(
  config: VolumesConfig,
  environment: Environment,
): Promise<VolumeSystem> {
  const { deviceClasses, lvcreateOptionClasses, protect, lowSpacePercent, backup } = config;
  const { dataDirectory, host, tools, onToolEnd } = environment;
  const lvm = createLvm({ ...config.lvm, ...tools, onToolEnd });
  const csi = config.csi && { mounts: createMounts({ ...tools, onToolEnd }), settings: config.csi };
  const system = { lvm, deviceClasses, lvcreateOptionClasses, protect, lowSpacePercent, csi };
  if (backup === undefined) {
    return { ...system, close: () => lvm.close() };
  }
  const { createRestic } = await import("../../../../adapters/restic/restic.ts");
  const restic = createRestic({
    command: backup.restic.command,
    cacheDir: backup.restic.cacheDir ?? join(dataDirectory, "restic-cache"),
    ...(host === undefined ? {} : { hostname: host }),
    onToolEnd,
  });
  return {
    ...system,
    backup: { restic, settings: backup },
    close: async () => void (await Promise.all([lvm.close(), restic.close()])),
  };
}
