import type { Reason } from "../../../../adapters/host/define-reasons.ts";
import { hasReason } from "../../../../adapters/host/infra-error.ts";
import type { LibvirtDomain } from "../../../../adapters/libvirt/adapter.ts";
import { libvirtReasons } from "../../../../adapters/libvirt/reasons.ts";
import type { OperationStep, StepRun } from "../../../operations/operation-kind.ts";
import { isOn } from "../inventory.ts";
import type { HypervisorTools } from "./hypervisor-tools.ts";
import { waitUntil } from "./wait-until.ts";

/** Input of hypervisors.destroy. A type alias, since an interface is not assignable to Json. */
export type DestroyInput = {
  readonly id: string;
  /** UUID of the VM; another VM of the same name is left alone. */
  readonly uuid: string;
  /** Whether the gateway created the VM, which is then removed as well. */
  readonly isOurs: boolean;
  /** Whether the VM was off at the request; a cancelled operation then does not start it. Absent in older operations. */
  readonly wasOff?: boolean;
  readonly graceSeconds: number;
  /** Volumes to delete, which were created for the VM; empty if they are kept. */
  readonly volumes: readonly { readonly pool: string; readonly name: string }[];
};

type DestroyRun = StepRun<DestroyInput, null>;
type DestroyStep = OperationStep<DestroyInput, null>;

const maxAttempts = 6;

/**
 * Returns the input of an operation that destroys a VM. Volumes are only deleted if they were created for it and are
 * attached.
 */
export function destroyInputFrom(
  domain: LibvirtDomain,
  { graceSeconds, deleteVolumes }: { readonly graceSeconds: number; readonly deleteVolumes: boolean },
): DestroyInput {
  const { name: id, uuid, mark, disks } = domain;
  const isOurs = mark?.hypervisorId === id;
  // A volume that was detached from the VM may be in use elsewhere.
  const volumes = (isOurs ? mark.createdVolumes : []).filter(({ pool, name }) =>
    disks.some(({ source }) => source.kind === "volume" && source.pool === pool && source.volume === name),
  );
  const wasOff = isOn(domain.state) === false;
  return { id, uuid, isOurs, wasOff, graceSeconds, volumes: deleteVolumes ? volumes : [] };
}

/** Asks the guest to shut down, and waits for `graceSeconds`; a guest that still runs is powered off by the next step. */
export function graceStep(tools: HypervisorTools): DestroyStep {
  return {
    name: "grace",
    title: "shutting down the guest",
    weight: 4,
    isAbortable: true,
    maxAttempts,
    async forward(run) {
      const { graceSeconds, id, uuid } = run.input;
      if (graceSeconds === 0 || (await runningDomain(tools, run)) === undefined) {
        return null;
      }
      await ignoring(libvirtReasons.DOMAIN_STATE, tools.run({ kind: "shutDown", name: id, uuid }, run));
      const wait = { what: "its guest to shut down", limitSeconds: graceSeconds, pollMs: tools.pollMs };
      await waitUntil(async () => (await runningDomain(tools, run)) === undefined, run, wait);
      return null;
    },
    undo: (run) => (run.input.graceSeconds === 0 ? Promise.resolve() : startAgain(tools, run)),
    attention: offAttention,
  };
}

/** Powers off the VM, unless it is off. */
export function powerOffStep(tools: HypervisorTools): DestroyStep {
  return {
    name: "powerOff",
    title: "powering off",
    isAbortable: false,
    maxAttempts,
    async forward(run) {
      await powerOff(tools, run);
      return null;
    },
    // It may have been cancelled after the VM was powered off, but before that was recorded.
    undo: (run) => startAgain(tools, run),
    attention: offAttention,
  };
}

/** Removes the VM from libvirt. A VM that the gateway did not create stays. */
export function undefineStep(tools: HypervisorTools): DestroyStep {
  return {
    name: "undefine",
    title: "removing the VM, if hostplane created it",
    isAbortable: false,
    maxAttempts,
    async forward(run) {
      const domain = run.input.isOurs ? await domainOf(tools, run) : undefined;
      if (domain !== undefined) {
        const { name, uuid } = domain;
        // It may have been started again since; undefining a running VM would only make it transient.
        await powerOff(tools, run);
        await ignoring(libvirtReasons.DOMAIN_NOT_FOUND, tools.run({ kind: "undefine", name, uuid }, run));
      }
      return null;
    },
    attention: ({ input }, error) => ({
      left: [`The VM ${input.id} is still defined: ${error.message}.`],
      advice: [
        `Retry the operation; or power it off and remove it with \`virsh destroy ${input.id}\` and \`virsh undefine ${input.id} --nvram\`.`,
      ],
    }),
  };
}

/** Deletes the volumes of the input; those that no longer exist are skipped. */
export function deleteVolumesStep(tools: HypervisorTools): DestroyStep {
  return {
    name: "deleteVolumes",
    title: "deleting the volumes that are not kept",
    isAbortable: false,
    maxAttempts,
    async forward(run) {
      for (const { pool, name } of run.input.volumes) {
        if (await tools.hasVolume(pool, name, run.signal)) {
          await tools.run({ kind: "deleteVolume", pool, name }, run);
        }
      }
      return null;
    },
    attention: ({ input }) => ({
      left: input.volumes.map(({ pool, name }) => `The volume ${pool}/${name} may still exist.`),
      advice: [
        `Retry the operation; or delete them: ${input.volumes.map(({ pool, name }) => `\`virsh vol-delete ${name} --pool ${pool}\``).join(", ")}.`,
      ],
    }),
  };
}

async function domainOf(tools: HypervisorTools, run: DestroyRun): Promise<LibvirtDomain | undefined> {
  const domain = await tools.domain(run);
  return domain?.uuid === run.input.uuid ? domain : undefined;
}

async function powerOff(tools: HypervisorTools, run: DestroyRun): Promise<void> {
  const domain = await runningDomain(tools, run);
  if (domain !== undefined) {
    const { name, uuid } = domain;
    // It may shut down by itself at the same moment.
    await ignoring(libvirtReasons.DOMAIN_STATE, tools.run({ kind: "powerOff", name, uuid }, run));
  }
}

async function startAgain(tools: HypervisorTools, run: DestroyRun): Promise<void> {
  const domain = run.input.wasOff === true ? undefined : await domainOf(tools, run);
  if (domain !== undefined && isOn(domain.state) === false) {
    const { name, uuid } = domain;
    await ignoring(libvirtReasons.DOMAIN_STATE, tools.run({ kind: "start", name, uuid }, run));
  }
}

function offAttention({ input }: DestroyRun, error: Error) {
  return {
    left: [`${input.id} may be off or running, because its destruction did not complete: ${error.message}.`],
    advice: [
      `Retry the operation to destroy it; or, if it is off, start it with \`virsh start ${input.id}\`.`,
    ],
  };
}

async function runningDomain(tools: HypervisorTools, run: DestroyRun): Promise<LibvirtDomain | undefined> {
  const domain = await domainOf(tools, run);
  return domain !== undefined && isOn(domain.state) !== false ? domain : undefined;
}

/** Waits for a change, and ignores an error which means that the change has already happened. */
async function ignoring(reason: Reason, change: Promise<void>): Promise<void> {
  try {
    await change;
  } catch (error) {
    const isDone = hasReason(error, reason, libvirtReasons.DOMAIN_NOT_FOUND);
    if (!isDone) {
      throw error;
    }
  }
}
