import type { DomainGpu } from "../../../../adapters/libvirt/adapter.ts";
import type { SandboxDomain } from "../../../../adapters/libvirt/sandbox/sandbox-host.ts";
import type { Random } from "../../../../adapters/sandbox/random.ts";

/** VMs of the demo world, and the GPUs that they use. */
export interface VmWorld {
  readonly gpus: readonly DomainGpu[];
  readonly domains: readonly SandboxDomain[];
}

const gibibyte = 1n << 30n;

/** Two VMs need it, so the second one cannot start while the first one runs. */
const sharedGpu: DomainGpu = { pciAddress: "0000:42:00.0", brand: "Sandbox Graphics", model: "SG-2" };

const purposes = [
  "office-desktops",
  "training-desktops",
  "lab-desktops",
  "kiosk-desktops",
  "remote-desktops",
];

/** Returns this many VMs: two that share a GPU, one that is stopped, and further ones. */
export function createVmWorld(random: Random, count: number): VmWorld {
  const fixed = [
    { ...vmNamed(random, "cad-desktops-1", "running"), gpus: [sharedGpu.pciAddress] },
    { ...vmNamed(random, "cad-desktops-2", "shutOff"), gpus: [sharedGpu.pciAddress] },
    vmNamed(random, "build-runners-1", "shutOff"),
  ] as const;
  const further = Array.from({ length: Math.max(0, count - fixed.length) }, (_, index) => {
    const round = Math.floor(index / purposes.length) + 1;
    const name = `${purposes[index % purposes.length]}-${round}`;
    return vmNamed(random, name, random.next() < 0.8 ? "running" : "shutOff");
  });
  return { gpus: [sharedGpu], domains: [...fixed, ...further] };
}

function vmNamed(random: Random, name: string, state: "running" | "shutOff"): SandboxDomain {
  const vcpuCount = random.pick([4, 8, 16]);
  return {
    name,
    uuid: uuidFrom(random),
    vcpuCount,
    memoryBytes: BigInt(2 * vcpuCount) * gibibyte,
    state,
    mark: { hypervisorId: name, operationId: "sandbox", createdVolumes: [] },
    disks: [{ kind: "path", path: `/sandbox/${name}.qcow2` }],
  };
}

function uuidFrom(random: Random): string {
  const hex = (length: number) => Array.from({ length }, () => random.integer(0, 15).toString(16)).join("");
  return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
}
