import type { MaasConstraints, MaasMachine } from "../../../../../adapters/maas/machine.ts";

/** Reports whether a machine is free and meets the constraints, by the same rules as an allocation in MAAS. */
export function isLikeThat(machine: MaasMachine, constraints: MaasConstraints): boolean {
  const { pool, zone, tags = [], notTags = [], notInPools = [], notInZones = [] } = constraints;
  const { architecture, cpuCount = 0, memoryMib = 0 } = constraints;
  return (
    machine.status === "ready" &&
    machine.owner === undefined &&
    !machine.isLocked &&
    tags.every((tag) => machine.tags.includes(tag)) &&
    !notTags.some((tag) => machine.tags.includes(tag)) &&
    isOf(machine.pool, pool, notInPools) &&
    isOf(machine.zone, zone, notInZones) &&
    isArchitecture(machine.architecture, architecture) &&
    machine.cpuCount >= cpuCount &&
    machine.memoryMib >= memoryMib
  );
}

function isOf(place: string | undefined, required: string | undefined, excluded: readonly string[]): boolean {
  return (required === undefined || place === required) && !excluded.some((each) => each === place);
}

/** `amd64` matches any `amd64/…`. */
function isArchitecture(own: string, required: string | undefined): boolean {
  return required === undefined || own === required || own.startsWith(`${required}/`);
}
