import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { RuntimeStep } from "../../../../adapters/podman/adapter.ts";
import type { OperationKind, StepRun } from "../../../operations/operation-kind.ts";
import { podResource } from "../own-changes.ts";
import { assertBackend } from "./backend-of.ts";
import type { ChangeTools } from "./change-definition.ts";
import { describeDifference, type PodBefore, podBefore } from "./pod-before.ts";
import { inspectNow, type PodInput } from "./pod-input.ts";

/** Longer than an upgrade of Podman takes its service away. */
export const maxAttempts = 6;

/** Name of the step before the change, of every kind. */
export const lookStep = "look";

export interface PodKindOptions<Input extends PodInput> {
  readonly kind: string;
  /** The step that makes the change, and what it does: `removing it with its containers`. */
  readonly step: string;
  readonly title: string;
  readonly stepOf: (input: Input) => RuntimeStep;
  /** What takes it back, if nothing of the pod ran before. Absent where nothing does. */
  readonly undoOf?: (input: Input) => RuntimeStep;
  /** Whether the gateway's stop ends the waiting for it; the runtime goes on with it. False unless told. */
  readonly isLong?: boolean;
  /** As `OwnChange.lingerMs`. */
  readonly lingerMs?: number;
  /** Whether the change is made of a pod that cannot be read as well, whose containers nobody knows. Never unless told. */
  readonly mayBeUnreadable?: (input: Input) => boolean;
  /** A refusal that says that an earlier attempt has done it. */
  readonly doneReason?: "POD_NOT_FOUND" | "POD_STATE";
}

/**
 * A kind of operations that have the runtime make one change of a pod. What has failed, or was cancelled in a moment that nobody
 * saw, is compared with the pod as it was: what cannot be taken back is told.
 */
export function createPodKind<Input extends PodInput>(
  { runtime, own, host }: ChangeTools,
  options: PodKindOptions<Input>,
): OperationKind<Input> {
  const { kind, step, title, stepOf, undoOf, isLong = false, lingerMs = 0, doneReason } = options;
  const { mayBeUnreadable = () => false } = options;
  type Run = StepRun<Input, null>;

  async function look({ input, signal }: Run): Promise<PodBefore> {
    await assertBackend(runtime, host, input.backend, "POD_NOT_FOUND", signal);
    try {
      return podBefore(await inspectNow(runtime, input.podId, signal));
    } catch (error) {
      const isUnreadable = error instanceof InfraError && error.reason === "PODMAN_FAILED";
      if (isUnreadable && mayBeUnreadable(input)) {
        return [];
      }
      throw error;
    }
  }

  function make({ input, operationId }: Run, wanted: RuntimeStep): Promise<unknown> {
    const change = { resources: [podResource(input.podUuid)], operationId, lingerMs };
    return own.during(change, () => runtime.run(wanted));
  }

  async function forward(run: Run): Promise<null> {
    try {
      const made = make(run, stepOf(run.input));
      await (isLong ? unlessStopped(made, run.signal) : made);
    } catch (error) {
      const isDone = error instanceof InfraError && error.reason === doneReason && run.attempt > 1;
      if (!isDone) {
        throw error;
      }
    }
    return null;
  }

  async function undo(run: Run): Promise<void> {
    const { input, output, signal } = run;
    const before = output(lookStep) as PodBefore;
    const read = async () => unlessGone(inspectNow(runtime, input.podId, signal));
    const pod = await read();
    const isUndone = pod === undefined || undoOf === undefined || before.some(({ isUp }) => isUp);
    if (!isUndone) {
      await make(run, undoOf(input));
    }
    const difference = describeDifference(input.podName, before, isUndone ? pod : await read());
    if (difference !== undefined) {
      throw new InfraError("POD_STATE", difference, { resource: podResource(input.podUuid) });
    }
  }

  return {
    kind,
    system: "podman",
    runsOn: "host",
    steps: [
      { name: lookStep, title: "looking at it", weight: 0.1, isAbortable: true, maxAttempts, forward: look },
      {
        name: step,
        title,
        isAbortable: isLong,
        maxAttempts,
        forward,
        undo,
        attention: ({ input }, error) => ({
          left: [`It cannot be taken back: ${error.message}.`],
          advice: [
            `Have pod ${input.podName} as you want it. Then leave the operation, or retry it once the pod is as it was.`,
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
    if (error instanceof InfraError && error.reason === "POD_NOT_FOUND") {
      return undefined;
    }
    throw error;
  }
}

/** Whoever takes the operation up waits for the rest. Cancel finds nothing that could be taken back. */
function unlessStopped<T>(made: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      if (signal.reason instanceof InfraError && signal.reason.reason === "SHUTTING_DOWN") {
        reject(signal.reason);
      }
    };
    const stay = () => signal.removeEventListener("abort", leave);
    signal.addEventListener("abort", leave);
    made.finally(stay).then(resolve, reject);
    if (signal.aborted) {
      leave();
    }
  });
}
