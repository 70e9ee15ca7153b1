import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter, LibvirtState, LibvirtStep } from "../../../../adapters/libvirt/adapter.ts";
import { hypervisorIdOf, hypervisorResource } from "../../../../adapters/libvirt/names.ts";
import type { CheckedOperation } from "../../../domain/long-change.ts";
import type { PlannedStep } from "../../../operations/mutation.ts";
import type { OperationKind } from "../../../operations/operation-kind.ts";
import { factsOf } from "../../../operations/plan-facts.ts";
import type { Inventory } from "../inventory.ts";
import { hypervisorReasons } from "../reasons.ts";
import {
  type CreateInput,
  checkedBy,
  createInputFrom,
  definitionOf,
  diskName,
  formatIn,
  seedName,
} from "./create-input.ts";
import { checkStep, defineStep, seedStep, volumeStep } from "./create-steps.ts";
import type { HypervisorChange } from "./hypervisor-change.ts";
import type { HypervisorTools } from "./hypervisor-tools.ts";
import { readyStep, startStep } from "./start-steps.ts";

export const createKindName = "hypervisors.create";

/** Placeholders in planned commands for the operation's ID, assigned only when it begins, and for the UUID derived from it. */
const operationId = "OPERATION";
const uuid = "UUID";

/**
 * hypervisors.create: defines a VM from a template, or finds an existing one, and starts it. If that fails, everything that
 * was created is removed.
 */
export function createCreateHypervisor(
  tools: HypervisorTools,
  inventory: Inventory,
  libvirt: Pick<LibvirtAdapter, "commandOf">,
): HypervisorChange<CreateInput> {
  const kind: OperationKind<CreateInput> = {
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
  return {
    kind,
    check({ id, state: current }, state) {
      if (current === "running") {
        throw new InfraError(hypervisorReasons.HYPERVISOR_RUNNING, `${id} is already running`, {
          resource: hypervisorResource(id),
        });
      }
      const input = createInputFrom(id, inventory.templateOf(id));
      return { input, ...describeCreation(input, state, libvirt) };
    },
    describeResult({ result, resource }) {
      const { isDiskReused = false } = (result ?? {}) as { readonly isDiskReused?: boolean };
      const id = hypervisorIdOf(resource);
      return isDiskReused ? `${id} was created with the disk that was kept` : `${id} was created`;
    },
  };
}

/** Returns the plan and the steps that `kind` will run in this state. */
function describeCreation(
  { id, template }: CreateInput,
  state: LibvirtState,
  libvirt: Pick<LibvirtAdapter, "commandOf">,
): Pick<CheckedOperation<CreateInput>, "plan" | "steps"> {
  const step = (name: string, call?: LibvirtStep): PlannedStep => ({
    name,
    command: call === undefined ? [] : libvirt.commandOf(call),
  });
  const domain = state.domains.find(({ name }) => name === id);
  const start = step("start", { kind: "start", name: id, uuid: domain?.uuid ?? uuid });
  const ready = step("ready");
  const facts = factsOf(hypervisorResource(id), {
    uuid: domain?.uuid ?? "",
    state: domain?.state ?? "not created",
  });
  if (template === null || domain !== undefined) {
    return {
      plan: { changes: [`${id} is started`], losses: [], facts },
      steps: [step("check"), start, ready],
    };
  }
  const { pool, sizeGib, backing, seed, vcpuCount, memoryMib } = template;
  const found = state.pools.find(({ name }) => name === pool);
  // Without its pool the operation fails, whatever the format.
  const format = found === undefined ? "qcow2" : formatIn(found);
  const origin = backing === null ? {} : { backingVolume: backing };
  const sizeBytes = BigInt(sizeGib) << 30n;
  const iso = { pool, name: seedName(id), hostname: id, instanceId: operationId };
  const definition = definitionOf(id, template, operationId, { uuid, format, isDiskCreated: true });
  return {
    plan: {
      changes: [
        `${id} is created with ${vcpuCount} threads, ${memoryMib} MiB of RAM and a disk of ${sizeGib} GiB in ${pool} (an existing disk is reused), and started`,
      ],
      losses: [],
      facts,
    },
    steps: [
      step("check"),
      step("volume", {
        kind: "createVolume",
        pool,
        name: diskName(id, format),
        format,
        sizeBytes,
        ...origin,
      }),
      ...(seed ? [step("seed", { kind: "writeSeed", ...iso })] : []),
      step("define", { kind: "define", domain: definition }),
      start,
      ready,
    ],
  };
}
