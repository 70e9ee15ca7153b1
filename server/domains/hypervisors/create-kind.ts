import type { OperationKind } from "../../operations/operation-kind.ts";
import { type CreateInput, checkedBy } from "./create-run.ts";
import { checkStep, defineStep, seedStep, volumeStep } from "./create-steps.ts";
import type { HypervisorTools } from "./hypervisor-tools.ts";
import type { Inventory } from "./inventory.ts";
import { readyStep, startStep } from "./start-steps.ts";

export const createKindName = "hypervisors.create";

/**
 * hypervisors.create: defines a VM from a template, or finds an existing one, and starts it. If that fails, everything that
 * was created is removed.
 */
export function createCreateKind(tools: HypervisorTools, inventory: Inventory): OperationKind<CreateInput> {
  return {
    kind: createKindName,
    system: "libvirt",
    runsOn: "host",
    steps: [
      checkStep(tools, inventory),
      volumeStep(tools),
      seedStep(tools),
      defineStep(tools),
      startStep(tools),
      readyStep(tools),
    ],
    result: ({ input, output }) => {
      const { mode, uuid, hasDisk } = checkedBy({ output });
      return { hypervisor: input.id, domain: uuid, isDiskReused: mode === "make" && hasDisk };
    },
  };
}
