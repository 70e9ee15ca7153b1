import { createResticInspector } from "../../../backups/inspect-restic.ts";
import type { Environment } from "../../../domain/define-domain.ts";
import type { Inspection } from "../../../domain/inspection.ts";
import type { VolumesConfig } from "../config.ts";
import { openRealVolumes } from "../system/open-real.ts";
import { createLvmInspector } from "./inspect-lvm.ts";

/** Creates the checks of LVM, its device classes, and restic. */
export async function inspectVolumes(config: VolumesConfig, environment: Environment): Promise<Inspection> {
  const { lvm, backup, csi, close } = await openRealVolumes(config, environment);
  const { dataDirectory } = environment;
  return {
    inspectors: [
      createLvmInspector(lvm, config.deviceClasses),
      ...(csi === undefined
        ? []
        : [
            {
              name: "csi",
              inspect: async () => ({ findings: await csi.mounts.inspect(csi.settings.roots) }),
            },
          ]),
      ...(backup === undefined || config.backup === undefined
        ? []
        : [createResticInspector(backup.restic, config.backup, dataDirectory, "volumes.backup")]),
    ],
    close,
  };
}
