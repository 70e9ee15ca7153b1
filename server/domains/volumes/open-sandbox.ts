import { createLvmSandbox } from "../../../adapters/lvm/sandbox.ts";
import { createResticSandbox } from "../../../adapters/restic/sandbox.ts";
import type { BackupSettings } from "./backups/backup-settings.ts";
import type { DeviceClass } from "./device-class.ts";
import type { VolumeSystem } from "./system.ts";

/** The device class of the sandbox; its name marks it as one wherever it is shown. */
const sandboxClass: DeviceClass = {
  name: "sandbox-ssd",
  volumeGroup: "sandbox-vg",
  default: true,
  spareGiB: 1,
};

/** Settings for trying backups: neither the directory nor the endpoint is real. */
const sandboxBackups: BackupSettings = {
  repository: "/sandbox/backups",
  snapshotPercent: 10,
  allowEndpoints: [{ url: "https://s3.sandbox.invalid", proxies: [], unverifiedTls: false }],
  minimumAgeHours: 0,
};

/** Creates volumes in memory. */
export function openSandboxVolumes(): VolumeSystem {
  const lvm = createLvmSandbox();
  const restic = createResticSandbox();
  return {
    lvm,
    deviceClasses: [sandboxClass],
    protect: [],
    lowSpacePercent: 10,
    backup: { restic, settings: sandboxBackups },
    close: async () => void (await Promise.all([lvm.close(), restic.close()])),
  };
}
