import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { RuntimeStep } from "../../../../adapters/podman/adapter.ts";
import type { PodContainer, RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import type { OperationKind, StepRun } from "../../../operations/operation-kind.ts";
import { type FindPodOptions, findPod } from "../find-pod.ts";
import { podResource } from "../own-changes.ts";
import { backendOf } from "./backend-of.ts";
import type { ChangeTools } from "./change-definition.ts";

/** What every operation on a pod has; a type, so that it is Json. */
export type PodInput = {
  /** As the runtime has it. */
  readonly podId: string;
  readonly podUuid: string;
  readonly podName: string;
  /** As `backendOf`: a pod of another Podman is another one. */
  readonly backend: string;
};

/** Longer than an upgrade of Podman takes its service away. */
export const maxAttempts = 6;

export interface PodKindOptions<Input extends PodInput> {
  readonly kind: string;
  /** The one step, and what it does: `stopping the pod`. */
  readonly step: string;
  readonly title: string;
  readonly stepOf: (input: Input) => RuntimeStep;
  /** Whether the gateway's stop ends the waiting for it; the runtime goes on with it. False unless told. */
  readonly isLong?: boolean;
  /** As `OwnChange.lingerMs`. */
  readonly lingerMs?: number;
  /** A refusal that says that an earlier attempt has done it. */
  readonly doneReason?: "POD_NOT_FOUND" | "POD_STATE";
}

/** A kind of operations of one step, which the runtime makes as a whole and nobody can take back. */
export function createPodKind<Input extends PodInput>(
  { runtime, own, host }: ChangeTools,
  options: PodKindOptions<Input>,
): OperationKind<Input> {
  const { kind, step, title, stepOf, isLong = false, lingerMs = 0, doneReason } = options;

  async function forward(run: StepRun<Input, null>): Promise<null> {
    const { input, operationId, attempt, signal } = run;
    const backend = await backendOf(runtime, host, signal);
    if (backend !== input.backend) {
      const words = `pod ${input.podName} is of ${input.backend}, and this is ${backend}`;
      throw new InfraError("POD_NOT_FOUND", words, { resource: podResource(input.podUuid) });
    }
    const change = { resources: [podResource(input.podUuid)], operationId, lingerMs };
    try {
      const made = own.during(change, () => runtime.run(stepOf(input)));
      await (isLong ? unlessStopped(made, signal) : made);
    } catch (error) {
      const isDone = error instanceof InfraError && error.reason === doneReason && attempt > 1;
      if (!isDone) {
        throw error;
      }
    }
    return null;
  }

  return {
    kind,
    system: "podman",
    runsOn: "host",
    steps: [{ name: step, title, isAbortable: isLong, maxAttempts, forward }],
    pointOfNoReturn: step,
    result: ({ input }) => ({ podId: input.podUuid, podName: input.podName }),
  };
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

/**
 * The pod that a caller means, as it is now.
 * @throws InfraError as `findPod` and `PodRuntime.inspectPod`
 */
export async function readPod(
  { runtime }: Pick<ChangeTools, "runtime">,
  wanted: string,
  how: Pick<FindPodOptions, "prefix">,
  signal: AbortSignal,
): Promise<RuntimePod> {
  const { value } = await runtime.read(signal);
  const { id } = findPod(value.pods, wanted, { field: "pod", name: true, ...how });
  return runtime.inspectPod(id, signal);
}

export function podInputOf({ id, uuid, name }: RuntimePod, backend: string): PodInput {
  return { podId: id, podUuid: uuid, podName: name, backend };
}

/** Its programs: all containers but the one that only holds the pod together. */
export function appsOf({ containers }: Pick<RuntimePod, "containers">): readonly PodContainer[] {
  return containers.filter(({ isInfra }) => !isInfra);
}

/** Whether it runs, or is paused, or about to end. */
export function isUp({ state }: Pick<PodContainer, "state">): boolean {
  return state === "running" || state === "paused" || state === "stopping";
}

/** `web and proxy`, for people. */
export function namesOf(containers: readonly Pick<PodContainer, "name">[]): string {
  return containers.map(({ name }) => name).join(", ");
}
