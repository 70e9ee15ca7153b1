import { createRestic } from "../../../../adapters/restic/restic.ts";
import { createResticInspector } from "../../../backups/inspect-restic.ts";
import type { Environment } from "../../../domain/define-domain.ts";
import type { Inspection } from "../../../domain/inspection.ts";
import type { HypervisorsConfig } from "../config.ts";
import { openRealHypervisors } from "../system/open-real.ts";
import { createLibvirtInspector } from "./inspect-libvirt.ts";
import { createPoolInspector } from "./inspect-pool.ts";
import { createPoolBackupInspector } from "./inspect-pool-backup.ts";

/** Creates the checks of libvirt, the storage pool and its backups. */
export async function inspectHypervisors(
  config: HypervisorsConfig,
  environment: Environment,
): Promise<Inspection> {
  const { libvirt, settings, pool, close } = await openRealHypervisors(config, environment);
  const backup = config.pool?.backup;
  // With its own restic: backups of a pool can be configured without what they need.
  const restic = backup && createRestic(backup.restic);
  return {
    inspectors: [
      createLibvirtInspector(libvirt, settings),
      ...(pool === undefined ? [] : [createPoolInspector(pool)]),
      ...(config.pool === undefined || backup === undefined || restic === undefined
        ? []
        : [
            createPoolBackupInspector(libvirt, config.pool),
            createResticInspector(restic, backup, environment.dataDirectory, "hypervisors.pool.backup"),
          ]),
    ],
    close: async () => void (await Promise.all([close(), restic?.close()])),
  };
}
