import type { LvmAdapter } from "../../../../adapters/lvm/adapter.ts";
import type { Finding, Inspector } from "../../../domain/inspection.ts";
import { messageFromError } from "../../../domain/message-from-error.ts";
import { createShownCommand } from "../../../lvm/shown-command.ts";
import type { DeviceClassConfig } from "../config.ts";

/** Checks LVM itself, and the volume group or thin pool of each device class. */
export function createLvmInspector(lvm: LvmAdapter, classes: readonly DeviceClassConfig[]): Inspector {
  return {
    name: "lvm",
    async inspect() {
      const { version, findings } = await lvm.inspect();
      if (version === undefined) {
        return { findings };
      }
      return { findings: [...findings, ...(await inspectClasses(lvm, classes, findings))] };
    },
  };
}

/** @param earlier findings about LVM itself, which include a failure to read its state */
async function inspectClasses(
  lvm: LvmAdapter,
  classes: readonly DeviceClassConfig[],
  earlier: readonly Finding[],
): Promise<Finding[]> {
  try {
    const { value } = await lvm.read();
    const shown = createShownCommand(lvm);
    return classes.map(({ name, volumeGroup, thinPool }) => {
      if (!value.volumeGroups.some((group) => group.name === volumeGroup)) {
        return {
          ok: false,
          what: `device class ${name}: volume group ${volumeGroup} not found`,
          fix: `list the volume groups with sudo ${shown(["vgs", "-a"])}; run sudo ${shown(["vgimport", volumeGroup])} if it was exported; correct volumes.deviceClasses if it has another name`,
        };
      }
      const isPool = value.volumes.some(
        (volume) =>
          volume.kind === "thinPool" && volume.name === thinPool && volume.volumeGroupName === volumeGroup,
      );
      if (thinPool === undefined || isPool) {
        return {
          ok: true,
          what: `device class ${name}: ${volumeGroup}${thinPool ? `/${thinPool}` : ""} found`,
        };
      }
      return {
        ok: false,
        what: `device class ${name}: ${volumeGroup} has no thin pool ${thinPool}`,
        fix: `sudo ${shown(["lvcreate", "--type", "thin-pool", "-L", "SIZE", "-n", thinPool, volumeGroup])}`,
      };
    });
  } catch (error) {
    return earlier.some(({ ok }) => !ok) ? [] : [{ ok: false, what: messageFromError(error) }];
  }
}
