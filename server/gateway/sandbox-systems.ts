import { createCephSandbox } from "../../adapters/ceph/sandbox.ts";
import { createKubernetesSandbox } from "../../adapters/kubernetes/sandbox.ts";
import { createLibvirtSandbox, sandboxGpu } from "../../adapters/libvirt/sandbox.ts";
import { createLvmSandbox } from "../../adapters/lvm/sandbox.ts";
import { createPodmanSandbox } from "../../adapters/podman/sandbox.ts";
import { createResticSandbox } from "../../adapters/restic/sandbox.ts";
import { createSandboxClusters } from "../domains/clusters/open-real.ts";
import type { HypervisorSettings, HypervisorTemplate } from "../domains/hypervisors/hypervisor-settings.ts";
import { createVolumeGroupPool } from "../domains/hypervisors/pool/volume-group-pool.ts";
import type { BackupSettings } from "../domains/volumes/backups/backup-settings.ts";
import type { DeviceClass } from "../domains/volumes/device-class.ts";
import type { HypervisorSystem } from "../domains/hypervisors/open-real.ts";
import { podSystem } from "../domains/pods/open-real.ts";
import { storageSystem } from "../domains/storage/open-real.ts";
import { closeAll, type Systems } from "./systems.ts";

/** Device class of the sandbox. Its name shows that it is not real wherever it appears. */
const sandboxClass: DeviceClass = {
  name: "sandbox-ssd",
  volumeGroup: "sandbox-vg",
  default: true,
  spareGiB: 1,
};

/** Backup settings of the sandbox: neither the directory nor the endpoint is real. */
const sandboxBackups: BackupSettings = {
  repository: "/sandbox/backups",
  snapshotPercent: 10,
  allowEndpoints: [{ url: "https://s3.sandbox.invalid", proxies: [], unverifiedTls: false }],
  minimumAgeHours: 0,
};

/** Creates systems in memory that touch nothing of the host. */
export function createSandboxSystems(): Systems {
  const lvm = createLvmSandbox();
  const restic = createResticSandbox();
  const hypervisors = createSandboxHypervisors();
  const storage = storageSystem(createCephSandbox(), createKubernetesSandbox());
  const pods = podSystem(createPodmanSandbox());
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

/** The hypervisors that the sandbox can create; one of them has a GPU. */
const sandboxHypervisors: HypervisorSettings = {
  templates: [
    ...["sandbox-hv-1", "sandbox-hv-2", "sandbox-hv-3"].map((id) => ({ id, ...sandboxTemplate })),
    { id: "sandbox-hv-4", ...sandboxTemplate, gpus: [sandboxGpu.pciAddress] },
  ],
  match: ["sandbox-old-*"],
  destroy: { graceSeconds: 0, deleteVolumes: false },
  sharedStorage: { volumeGroup: "sandbox-pool", libvirtPool: "sandbox-pool" },
};

/** Returns a device that adds exactly `sizeGib` to its group: LVM keeps the first MiB for itself. */
const sandboxDevice = (name: string, sizeGib: bigint) => ({
  path: `/dev/sandbox/pool-${name}`,
  sizeBytes: (sizeGib << 30n) + (1n << 20n),
});

/** Creates hypervisors and a pool that touch nothing of the host. */
function createSandboxHypervisors(): HypervisorSystem {
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
  return { libvirt, settings: sandboxHypervisors, pool, poolBackup, close };
}
