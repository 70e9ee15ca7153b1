import type { Reason } from "../../../../adapters/host/define-reasons.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import { podmanReasons } from "../../../../adapters/podman/reasons.ts";
import type { RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import { podResource } from "../events/own-changes.ts";
import { type FindPodOptions, findPod } from "../find-pod.ts";
import { isPaused, namesOf } from "./pod-containers.ts";

/** Input common to all operations on pods. A type and not an interface, so that it is assignable to Json. */
export type PodInput = {
  /** The runtime's own id. */
  readonly podId: string;
  readonly podUuid: string;
  readonly podName: string;
  /** As `backendOf`: distinguishes pods of different Podman stores. */
  readonly backend: string;
};

/**
 * Finds the pod in a request and reads its current state.
 * @throws InfraError as `findPod` and `inspectNow`
 */
export async function readPod(
  runtime: Pick<PodRuntime, "read" | "inspectPod">,
  reference: string,
  how: Pick<FindPodOptions, "prefix">,
  signal: AbortSignal,
): Promise<RuntimePod> {
  const { pods, unreadable } = (await runtime.read(signal)).value;
  const { id } = findPod(pods, reference, { field: "pod", name: true, unreadable, ...how });
  return inspectNow(runtime, id, signal);
}

/** Reasons that are right for every part of a pod. */
const plainReasons: readonly Reason[] = [
  podmanReasons.POD_NOT_FOUND,
  podmanReasons.PODMAN_UNAVAILABLE,
  podmanReasons.PODMAN_DENIED,
  podmanReasons.PODMAN_FAILED,
];

/**
 * Reads a pod from the runtime.
 * @throws InfraError POD_NOT_FOUND; PODMAN_FAILED when it cannot be read, whichever part is missing; and as `PodRuntime.read`
 */
export async function inspectNow(
  runtime: Pick<PodRuntime, "inspectPod">,
  podId: string,
  signal: AbortSignal,
): Promise<RuntimePod> {
  try {
    return await runtime.inspectPod(podId, signal);
  } catch (error) {
    const isPlain = !(error instanceof InfraError) || error.is(...plainReasons);
    throw isPlain ? error : new InfraError(podmanReasons.PODMAN_FAILED, error.message, { cause: error });
  }
}

/** Returns the part of an operation's input that identifies the pod. @param backend as `backendOf` */
export function podInputOf({ id, uuid, name }: RuntimePod, backend: string): PodInput {
  return { podId: id, podUuid: uuid, podName: name, backend };
}

/** @throws InfraError POD_STATE */
export function assertNotPaused(pod: Pick<RuntimePod, "uuid" | "name" | "containers">): void {
  const paused = pod.containers.filter(isPaused);
  if (paused.length > 0) {
    const words = `pod ${pod.name} has paused containers: ${namesOf(paused)}; resume them with podman, or stop the pod`;
    throw new InfraError(podmanReasons.POD_STATE, words, { resource: podResource(pod.uuid) });
  }
}
