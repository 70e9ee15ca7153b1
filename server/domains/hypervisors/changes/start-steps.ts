import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LibvirtDomain } from "../../../../adapters/libvirt/adapter.ts";
import { hypervisorResource } from "../../../../adapters/libvirt/names.ts";
import { libvirtReasons } from "../../../../adapters/libvirt/reasons.ts";
import type { ReadyWhen } from "../hypervisor-settings.ts";
import { isOn } from "../inventory.ts";
import { hypervisorReasons } from "../reasons.ts";
import { type CreateRun, type CreateStep, checkedBy, readyWhenOf } from "./create-input.ts";
import { domainGone, type HypervisorTools } from "./hypervisor-tools.ts";
import { waitUntil } from "./wait-until.ts";

/** Starts the VM. */
export function startStep(tools: HypervisorTools): CreateStep {
  return {
    name: "start",
    title: "starting the VM",
    isAbortable: false,
    maxAttempts: 6,
    async happened(run) {
      // A VM that the operation did not create may have been started by another process.
      const domain = isOwn(run) ? await domainOf(tools, run) : undefined;
      return domain !== undefined && isOn(domain.state) === true
        ? { output: { isStarted: true } }
        : undefined;
    },
    async forward(run) {
      const { uuid } = checkedBy(run);
      const { id } = run.input;
      try {
        await tools.run({ kind: "start", name: id, uuid }, run);
        return { isStarted: true };
      } catch (error) {
        const isRefused = hasReason(error, libvirtReasons.DOMAIN_STATE);
        const domain = isRefused ? await domainOf(tools, run) : undefined;
        if (domain !== undefined && isOn(domain.state) === true) {
          // Started by another process, or by an earlier attempt. Undo stops it only if the operation created the VM.
          return { isStarted: isOwn(run) };
        }
        throw error;
      }
    },
    async undo(run) {
      const assumed = { isStarted: isOwn(run) };
      const { isStarted } = (run.output("start") ?? assumed) as { readonly isStarted: boolean };
      const domain = isStarted ? await domainOf(tools, run) : undefined;
      if (domain !== undefined && isOn(domain.state) === true) {
        await tools.run({ kind: "powerOff", name: domain.name, uuid: domain.uuid }, run);
      }
    },
    attention: ({ input }) => ({
      left: [`The VM ${input.id} may still be running.`],
      advice: [`Retry the operation; or stop it with \`virsh destroy ${input.id}\`.`],
    }),
  };
}

/** Waits until the guest is up. */
export function readyStep(tools: HypervisorTools): CreateStep {
  return {
    name: "ready",
    title: "waiting until the VM is ready",
    weight: 8,
    isAbortable: true,
    async forward(run) {
      const ready = readyWhenOf(run.input);
      if (ready.kind === "started") {
        return null;
      }
      const { id, template } = run.input;
      const what = describeReady(ready);
      const limitSeconds = template?.readyTimeoutSeconds ?? 0;
      const wait = { what, limitSeconds, pollMs: tools.pollMs };
      if (!(await waitUntil(() => isReady(tools, run, ready), run, wait))) {
        throw notReady(id, `${what} did not answer within ${limitSeconds} s`);
      }
      return null;
    },
  };
}

async function isReady(
  tools: HypervisorTools,
  run: CreateRun,
  ready: Exclude<ReadyWhen, { kind: "started" }>,
): Promise<boolean> {
  const domain = await domainOf(tools, run);
  if (domain === undefined) {
    throw domainGone(run.input.id);
  }
  if (isOn(domain.state) === false) {
    throw notReady(run.input.id, "it stopped while the gateway waited for it");
  }
  try {
    return await tools.isReady(domain.name, ready, run.signal);
  } catch (error) {
    // The VM keeps running while libvirt restarts.
    if (hasReason(error, libvirtReasons.LIBVIRT_UNAVAILABLE)) {
      return false;
    }
    throw error;
  }
}

/** Reports whether the operation created the VM, which then has no other user yet. */
function isOwn(run: CreateRun): boolean {
  return checkedBy(run).mode === "make";
}

/** Returns the VM with the UUID from `check`; undefined if it is gone, or was replaced by another of the same name. */
async function domainOf(tools: HypervisorTools, run: CreateRun): Promise<LibvirtDomain | undefined> {
  const domain = await tools.domain(run);
  return domain?.uuid === checkedBy(run).uuid ? domain : undefined;
}

function describeReady(ready: ReadyWhen): string {
  return ready.kind === "tcp" ? `its port ${ready.port}` : "its guest agent";
}

function notReady(id: string, why: string): InfraError {
  return new InfraError(hypervisorReasons.HYPERVISOR_NOT_READY, `${id} is not ready: ${why}`, {
    resource: hypervisorResource(id),
  });
}
