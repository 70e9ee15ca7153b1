import type { Reason } from "../../../../adapters/host/define-reasons.ts";
import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import type { RuntimeStep } from "../../../../adapters/podman/adapter.ts";
import { podmanReasons } from "../../../../adapters/podman/reasons.ts";
import type { OperationKind, StepRun } from "../../../operations/operation-kind.ts";
import { podResource } from "../events/own-changes.ts";
import { assertBackend } from "./backend-of.ts";
import { describeDifference, type PodBefore, podBefore } from "./pod-before.ts";
import type { ChangeTools } from "./pod-change.ts";
import { inspectNow, type PodInput } from "./pod-input.ts";

/** Enough to outlast an upgrade of Podman, during which its service is down. */
export const maxAttempts = 6;

/** Name of the step before the change, the same for every kind. */
export const inspectStep = "check";

export interface PodKindOptions<Input extends PodInput> {
  readonly kind: string;
  /** Name and title of the step that makes the change, e.g. `removing the pod with its containers`. */
  readonly step: string;
  readonly title: string;
  readonly stepOf: (input: Input) => RuntimeStep;
  /** Reverts the change, if no container of the pod was running before. Absent when it cannot be reverted. */
  readonly undoOf?: (input: Input) => RuntimeStep;
  /** Whether stopping the gateway ends the wait for the change, which the runtime then completes by itself. Defaults to false. */
  readonly isLong?: boolean;
  /** As `OwnChange.lingerMs`. */
  readonly lingerMs?: number;
  /** Whether the change also applies to a pod that cannot be read, so that its containers are unknown. Defaults to never. */
  readonly mayBeUnreadable?: (input: Input) => boolean;
  /** The error from which a retry concludes that an earlier attempt succeeded. */
  readonly doneReason?: Reason;
}

/**
 * Creates a kind of operation that makes one change of a pod through the runtime. After a failure, or a cancellation at an
 * unknown point, the pod is compared with its previous state, and what cannot be reverted is reported.
 */
export function createPodKind<Input extends PodInput>(
  { runtime, own, host }: ChangeTools,
  options: PodKindOptions<Input>,
): OperationKind<Input> {
  const { kind, step, title, stepOf, undoOf, isLong = false, lingerMs = 0, doneReason } = options;
  const { mayBeUnreadable = () => false } = options;
  type Run = StepRun<Input, null>;

  async function inspect({ input, signal }: Run): Promise<PodBefore> {
    await assertBackend(runtime, host, input.backend, podmanReasons.POD_NOT_FOUND, signal);
    try {
      return podBefore(await inspectNow(runtime, input.podId, signal));
    } catch (error) {
      const isUnreadable = hasReason(error, podmanReasons.PODMAN_FAILED);
      if (isUnreadable && mayBeUnreadable(input)) {
        return [];
      }
      throw error;
    }
  }

  function make({ input, operationId }: Run, runtimeStep: RuntimeStep): Promise<unknown> {
    const change = { resources: [podResource(input.podUuid)], operationId, lingerMs };
    return own.during(change, () => runtime.run(runtimeStep));
  }

  async function forward(run: Run): Promise<null> {
    try {
      const running = make(run, stepOf(run.input));
      await (isLong ? unlessStopped(running, run.signal) : running);
    } catch (error) {
      const isOver = doneReason !== undefined && hasReason(error, doneReason);
      const isDone = isOver && run.attempt > 1;
      if (!isDone) {
        throw error;
      }
    }
    return null;
  }

  async function undo(run: Run): Promise<void> {
    const { input, output, signal } = run;
    const before = output(inspectStep) as PodBefore;
    const read = async () => unlessGone(inspectNow(runtime, input.podId, signal));
    const pod = await read();
    const isUndone = pod === undefined || undoOf === undefined || before.some(({ isUp }) => isUp);
    if (!isUndone) {
      await make(run, undoOf(input));
    }
    const difference = describeDifference(input.podName, before, isUndone ? pod : await read());
    if (difference !== undefined) {
      throw new InfraError(podmanReasons.POD_STATE, difference, { resource: podResource(input.podUuid) });
    }
  }

  return {
    kind,
    system: "podman",
    runsOn: "host",
    steps: [
      {
        name: inspectStep,
        title: "inspecting the pod",
        weight: 0.1,
        isAbortable: true,
        maxAttempts,
        forward: inspect,
      },
      {
        name: step,
        title,
        isAbortable: isLong,
        maxAttempts,
        forward,
        undo,
        attention: ({ input }, error) => ({
          left: [`It cannot be undone: ${error.message}.`],
          advice: [
            `Bring pod ${input.podName} into the state you want. Then leave the operation, or retry it once the pod has its previous state.`,
          ],
        }),
      },
    ],
    pointOfNoReturn: step,
    result: ({ input }) => ({ podId: input.podUuid, podName: input.podName }),
  };
}

async function unlessGone<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (hasReason(error, podmanReasons.POD_NOT_FOUND)) {
      return undefined;
    }
    throw error;
  }
}

/**
 * On a gateway stop, leaves the rest of the wait to the gateway that takes over the operation. A cancellation does not end
 * it, since nothing could be reverted.
 */
function unlessStopped<T>(running: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      if (hasReason(signal.reason, hostReasons.SHUTTING_DOWN)) {
        reject(signal.reason);
      }
    };
    const stay = () => signal.removeEventListener("abort", leave);
    signal.addEventListener("abort", leave);
    running.finally(stay).then(resolve, reject);
    if (signal.aborted) {
      leave();
    }
  });
}
