import type { LibvirtAdapter } from "../../../../adapters/libvirt/adapter.ts";
import { createLibvirtSandbox, quietHost, sandboxGpu } from "../../../../adapters/libvirt/sandbox.ts";
import { createLvmSandbox } from "../../../../adapters/lvm/sandbox.ts";
import { createResticSandbox } from "../../../../adapters/restic/sandbox.ts";
import type { DemoWorld } from "../../../domain/demo-world.ts";
import type { HypervisorSettings, HypervisorTemplate } from "../hypervisor-settings.ts";
import { createVolumeGroupPool } from "../pool/volume-group-pool.ts";
import { createVmWorld } from "./sandbox-world.ts";
import type { HypervisorSystem } from "./system.ts";

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
export function openSandboxHypervisors(world?: DemoWorld): HypervisorSystem {
  const libvirt = world === undefined ? createLibvirtSandbox() : openWorld(world);
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
  const close = async () => void (await Promise.all([libvirt.close(), lvm.close(), restic.close()]));
  return { libvirt, settings: sandboxHypervisors, pool, poolBackup, close };
}

/** The VMs of the demo world, beside those of the quiet sandbox. */
function openWorld({ clock, random, sizes }: DemoWorld): LibvirtAdapter {
  const { templates } = sandboxHypervisors;
  const known = new Set(
    [...templates, ...quietHost.domains.map(({ name: id }) => ({ id }))].map(({ id }) => id),
  );
  const { gpus, domains } = createVmWorld(random.fork("vms"), sizes.vms - known.size);
  return createLibvirtSandbox({
    clock,
    gpus: [...quietHost.gpus, ...gpus],
    domains: [...quietHost.domains, ...domains],
  });
}
