import type { LvmAdapter, LvmStep } from "../../../../adapters/lvm/adapter.ts";
import { devicePathOf } from "../../../../adapters/lvm/names.ts";
import { createLvmSandbox, quietVolumeGroups } from "../../../../adapters/lvm/sandbox.ts";
import type { MountAdapter } from "../../../../adapters/mounts/adapter.ts";
import { createMountsSandbox } from "../../../../adapters/mounts/sandbox.ts";
import { createResticSandbox } from "../../../../adapters/restic/sandbox.ts";
import { createStepFaults } from "../../../../adapters/sandbox/step-faults.ts";
import type { DemoWorld } from "../../../domain/demo-world.ts";
import type { BackupSettings } from "../backups/backup-settings.ts";
import type { CsiSettings } from "../csi/csi-parts.ts";
import type { DeviceClass } from "../device-class.ts";
import { createOpenSnapshots, createVolumeWorld, unreadableVolume } from "./sandbox-world.ts";
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

/** A directory that exists in memory, with `staging` and `pods` in it. */
const sandboxRoot = "/sandbox/csi";

/** Settings for trying the CSI driver. */
const sandboxCsi: CsiSettings = {
  driverName: "lvm.csi.hostplane",
  roots: [sandboxRoot],
  expansion: "controller",
};

/** How fast backups of the demo world are: the largest one takes five minutes. */
const backupBytesPerMs = (4 * 2 ** 30) / 1_000;

/** Attempts of an operation to remove a snapshot, after which it needs attention. */
const attemptsToRemove = 6;

/** Creates volumes in memory. */
export function openSandboxVolumes(world?: DemoWorld): VolumeSystem {
  const { lvm, restic, deviceClasses } = world === undefined ? openQuiet() : openWorld(world);
  return {
    lvm,
    deviceClasses: [sandboxClass, ...deviceClasses],
    protect: [],
    lowSpacePercent: 10,
    backup: { restic, settings: sandboxBackups },
    csi: { mounts: openMounts(lvm), settings: sandboxCsi },
    close: async () => void (await Promise.all([lvm.close(), restic.close()])),
  };
}

/** Mounts of the sandbox's volumes, whose devices are those of its LVM. */
function openMounts(lvm: LvmAdapter): MountAdapter {
  return createMountsSandbox({
    directories: [`${sandboxRoot}/staging`, `${sandboxRoot}/pods`],
    numberOf: async (device) =>
      (await lvm.read()).value.volumes.find(
        ({ volumeGroupName, name }) => devicePathOf(volumeGroupName, name) === device,
      )?.device,
  });
}

function openQuiet() {
  return { lvm: createLvmSandbox(), restic: createResticSandbox(), deviceClasses: [] };
}

function openWorld({ clock, random, sizes }: DemoWorld) {
  const quietCount = quietVolumeGroups.reduce((sum, { volumes = [] }) => sum + volumes.length, 0);
  const count = sizes.volumes - quietCount;
  const { deviceClasses, volumeGroups } = createVolumeWorld(random.fork("volumes"), count);
  const faults = createStepFaults<LvmStep>();
  faults.add(createOpenSnapshots(), attemptsToRemove);
  const lvm = createLvmSandbox({ clock, faults, volumeGroups: [...quietVolumeGroups, ...volumeGroups] });
  const restic = createResticSandbox({
    clock,
    faults: createStepFaults(unreadableVolume),
    transferMs: (totalBytes) => Math.max(200, totalBytes / backupBytesPerMs),
  });
  return { lvm, restic, deviceClasses };
}
