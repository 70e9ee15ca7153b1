import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter, LibvirtStep } from "../../../../adapters/libvirt/adapter.ts";
import { hypervisorIdOf, hypervisorResource } from "../../../../adapters/libvirt/names.ts";
import type { CheckedOperation } from "../../../domain/long-change.ts";
import type { PlannedStep } from "../../../operations/mutation.ts";
import type { OperationKind } from "../../../operations/operation-kind.ts";
import { factsOf } from "../../../operations/plan-facts.ts";
import type { HypervisorSettings } from "../hypervisor-settings.ts";
import { hypervisorReasons } from "../reasons.ts";
import {
  type DestroyInput,
  deleteVolumesStep,
  destroyInputFrom,
  graceStep,
  powerOffStep,
  undefineStep,
} from "./destroy-steps.ts";
import type { HypervisorChange } from "./hypervisor-change.ts";
import type { HypervisorTools } from "./hypervisor-tools.ts";

export const destroyKindName = "hypervisors.destroy";

/**
 * hypervisors.destroy: powers a VM off, after a grace period in which its guest may shut down, and removes what the gateway
 * created. Workloads on the hypervisor are neither stopped nor moved.
 */
export function createDestroyHypervisor(
  tools: HypervisorTools,
  settings: HypervisorSettings["destroy"],
  libvirt: Pick<LibvirtAdapter, "commandOf">,
): HypervisorChange<DestroyInput> {
  const kind: OperationKind<DestroyInput> = {
    kind: destroyKindName,
    system: "libvirt",
    runsOn: "host",
    steps: [graceStep(tools), powerOffStep(tools), undefineStep(tools), deleteVolumesStep(tools)],
    pointOfNoReturn: "powerOff",
    result: ({ input }) => ({
      hypervisor: input.id,
      isRemoved: input.isOurs,
      deletedVolumes: input.volumes.map(({ pool, name }) => `${pool}/${name}`),
    }),
  };
  const isOff = (id: string, words: string) =>
    new InfraError(hypervisorReasons.HYPERVISOR_OFF, `${id} ${words}`, { resource: hypervisorResource(id) });
  return {
    kind,
    check({ id, state: current }, { domains }) {
      const domain = domains.find(({ name }) => name === id);
      if (domain === undefined) {
        throw isOff(id, "is not created");
      }
      const input = destroyInputFrom(domain, settings);
      if (current === "off" && !input.isOurs) {
        throw isOff(id, "is already off, and only VMs that hostplane created are removed");
      }
      return { input, ...describeDestruction(input, libvirt) };
    },
    describeResult({ result, resource }) {
      const { isRemoved = true } = (result ?? {}) as { readonly isRemoved?: boolean };
      const id = hypervisorIdOf(resource);
      return isRemoved ? `${id} was destroyed` : `${id} is off; it was not created by hostplane and is kept`;
    },
  };
}

/** Returns the plan and the steps that `kind` will run with this input. */
function describeDestruction(
  { id: name, uuid, isOurs, wasOff = false, graceSeconds, volumes }: DestroyInput,
  libvirt: Pick<LibvirtAdapter, "commandOf">,
): Pick<CheckedOperation<DestroyInput>, "plan" | "steps"> {
  const step = (stepName: string, call: LibvirtStep): PlannedStep => ({
    name: stepName,
    command: libvirt.commandOf(call),
  });
  const domain = { name, uuid };
  return {
    plan: {
      changes: [
        wasOff
          ? `the VM ${name}, which is off, is removed`
          : `${name} is powered off${isOurs ? " and removed" : ""}`,
      ],
      losses: [
        ...(wasOff ? [] : [`the workloads on ${name}, which are neither stopped nor moved`]),
        ...volumes.map((volume) => `the volume ${volume.pool}/${volume.name}`),
      ],
      facts: factsOf(hypervisorResource(name), { uuid, isOff: wasOff, isOurs }),
    },
    steps: [
      ...(graceSeconds > 0 && !wasOff ? [step("grace", { kind: "shutDown", ...domain })] : []),
      ...(wasOff ? [] : [step("powerOff", { kind: "powerOff", ...domain })]),
      ...(isOurs ? [step("undefine", { kind: "undefine", ...domain })] : []),
      ...volumes.map((volume) => step("deleteVolumes", { kind: "deleteVolume", ...volume })),
    ],
  };
}
