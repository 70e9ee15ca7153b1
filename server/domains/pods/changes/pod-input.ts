import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type { RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import { type FindPodOptions, findPod } from "../find-pod.ts";
import { podResource } from "../own-changes.ts";
import { isPaused, namesOf } from "./pod-containers.ts";

/** What every operation on a pod has; a type, so that it is Json. */
export type PodInput = {
  /** As the runtime has it. */
  readonly podId: string;
  readonly podUuid: string;
  readonly podName: string;
  /** As `backendOf`: a pod of another Podman is another one. */
  readonly backend: string;
};

/**
 * The pod that a caller means, as it is now.
 * @throws InfraError as `findPod` and `inspectNow`
 */
export async function readPod(
  runtime: Pick<PodRuntime, "read" | "inspectPod">,
  wanted: string,
  how: Pick<FindPodOptions, "prefix">,
  signal: AbortSignal,
): Promise<RuntimePod> {
  const { pods, unreadable } = (await runtime.read(signal)).value;
  const { id } = findPod(pods, wanted, { field: "pod", name: true, unreadable, ...how });
  return inspectNow(runtime, id, signal);
}

/**
 * A pod, asked of the runtime now.
 * @throws InfraError POD_NOT_FOUND, PODMAN_FAILED for one that cannot be read, whatever of it is missing, and as `PodRuntime.read`
 */
export async function inspectNow(
  runtime: Pick<PodRuntime, "inspectPod">,
  podId: string,
  signal: AbortSignal,
): Promise<RuntimePod> {
  try {
    return await runtime.inspectPod(podId, signal);
  } catch (error) {
    const isPlain = !(error instanceof InfraError) || /^(POD_NOT_FOUND|PODMAN_.*)$/.test(error.reason);
    throw isPlain ? error : new InfraError("PODMAN_FAILED", error.message, { cause: error });
  }
}

export function podInputOf({ id, uuid, name }: RuntimePod, backend: string): PodInput {
  return { podId: id, podUuid: uuid, podName: name, backend };
}

/** @throws InfraError POD_STATE */
export function assertNotPaused(pod: Pick<RuntimePod, "uuid" | "name" | "containers">): void {
  const paused = pod.containers.filter(isPaused);
  if (paused.length > 0) {
    const words = `of pod ${pod.name} is paused: ${namesOf(paused)}; have it go on by podman, or stop the pod`;
    throw new InfraError("POD_STATE", words, { resource: podResource(pod.uuid) });
  }
}
