import { setTimeout as sleep } from "node:timers/promises";
import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import type {
  LibvirtAdapter,
  LibvirtDomain,
  LibvirtState,
  LibvirtStep,
} from "../../../../adapters/libvirt/adapter.ts";
import { hypervisorResource } from "../../../../adapters/libvirt/names.ts";
import { libvirtReasons } from "../../../../adapters/libvirt/reasons.ts";
import type { Json } from "../../../operations/operation.ts";
import type { StepRun } from "../../../operations/operation-kind.ts";
import type { OwnChanges } from "../events/own-changes.ts";

export interface HypervisorToolsOptions {
  readonly libvirt: LibvirtAdapter;
  readonly own: OwnChanges;
  /** How long an operation waits for an unreachable libvirt; one minute if absent. */
  readonly patienceMs?: number;
  /** Interval for polling a condition; one second if absent. */
  readonly pollMs?: number;
}

/** A run of a step that changes one hypervisor. */
export type HypervisorRun = Pick<StepRun<Json, null>, "operationId" | "signal"> & {
  readonly input: { readonly id: string };
};

/** Access to libvirt for the steps of operations. */
export interface HypervisorTools {
  readonly pollMs: number;
  /**
   * Returns the newest state. Waits for an unreachable libvirt, for example one that is restarting.
   * @throws InfraError LIBVIRT_UNAVAILABLE if it stays unreachable, and the signal's reason
   */
  state(signal: AbortSignal): Promise<LibvirtState>;
  /** Returns the hypervisor's VM; undefined if it has none. @throws as `state` */
  domain(run: HypervisorRun): Promise<LibvirtDomain | undefined>;
  /** Reports whether the volume exists. @throws InfraError STORAGE_POOL_NOT_FOUND, and as `state` */
  hasVolume(pool: string, name: string, signal: AbortSignal): Promise<boolean>;
  /** Makes a change and attributes it to the operation. @throws InfraError as LibvirtAdapter.run */
  run(step: LibvirtStep, run: HypervisorRun): Promise<void>;
  isReady: LibvirtAdapter["isReady"];
}

/** @param options `own`: where changes are noted, so that their events carry the operation */
export function createHypervisorTools(options: HypervisorToolsOptions): HypervisorTools {
  const { libvirt, own, patienceMs = 60_000, pollMs = 1_000 } = options;

  async function withPatience<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const giveUpAtMs = performance.now() + patienceMs;
    for (;;) {
      try {
        return await read();
      } catch (error) {
        const isGone = hasReason(error, libvirtReasons.LIBVIRT_UNAVAILABLE);
        if (!isGone || performance.now() >= giveUpAtMs) {
          throw error;
        }
        await sleep(pollMs, undefined, { signal });
      }
    }
  }

  const state = (signal: AbortSignal) => withPatience(async () => (await libvirt.read(signal)).value, signal);

  return {
    pollMs,
    state,
    async domain({ input, signal }) {
      const { domains } = await state(signal);
      return domains.find(({ name }) => name === input.id);
    },
    hasVolume: (pool, name, signal) => withPatience(() => libvirt.hasVolume(pool, name), signal),
    run: (step, { input, operationId, signal }) =>
      own.during({ hypervisorId: input.id, operationId, step: step.kind }, () => libvirt.run(step, signal)),
    isReady: (name, readiness, signal) => libvirt.isReady(name, readiness, signal),
  };
}

/** Creates the error for a VM that was removed, or replaced by another of the same name. */
export function domainGone(id: string): InfraError {
  return new InfraError(libvirtReasons.DOMAIN_NOT_FOUND, `the VM ${id} was removed outside hostplane`, {
    resource: hypervisorResource(id),
  });
}
