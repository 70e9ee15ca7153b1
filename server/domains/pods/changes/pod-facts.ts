import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type { PodContainer, RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import { type FindPodOptions, findPod } from "../find-pod.ts";

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
 * @throws InfraError as `findPod` and `PodRuntime.inspectPod`
 */
export async function readPod(
  runtime: Pick<PodRuntime, "read" | "inspectPod">,
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

/** `web, proxy`, for people. */
export function namesOf(containers: readonly Pick<PodContainer, "name">[]): string {
  return containers.map(({ name }) => name).join(", ");
}
