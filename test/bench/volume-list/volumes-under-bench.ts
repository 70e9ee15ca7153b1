import { createLvmSandbox } from "../../../adapters/lvm/sandbox.ts";
import { createVolumes, type Volumes } from "../../../server/domains/volumes/volumes.ts";

export const volumeCount = 100;
export const volumeNameLength = 40;

/** Creates the volumes that both sides list, named as Kubernetes names them. */
export function createVolumesUnderBench(): Volumes {
  const volumes = Array.from({ length: volumeCount }, (_, index) => ({
    name: `pvc-6f5a1c52-8d7e-4c0b-9a43-${String(index).padStart(12, "0")}`,
    sizeBytes: BigInt(1 + (index % 8)) << 30n,
  }));
  return createVolumes({
    lvm: createLvmSandbox({ volumeGroups: [{ name: "vg0", sizeBytes: 1n << 40n, volumes }] }),
    deviceClasses: [{ name: "ssd", volumeGroup: "vg0", default: true, spareGiB: 10 }],
  });
}
