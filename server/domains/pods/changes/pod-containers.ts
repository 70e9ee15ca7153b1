import type { PodContainer, RuntimePod } from "../../../../adapters/podman/runtime-state.ts";

/** Returns all containers except the infra container, which only holds the pod's namespaces. */
export function appsOf({ containers }: Pick<RuntimePod, "containers">): readonly PodContainer[] {
  return containers.filter(({ isInfra }) => !isInfra);
}

/** Reports whether a container is running, paused or stopping. */
export function isUp({ state }: Pick<PodContainer, "state">): boolean {
  return state === "running" || state === "paused" || state === "stopping";
}

/** Reports whether a container is paused. It runs again after `podman unpause`, or when its pod is stopped. */
export function isPaused({ state }: Pick<PodContainer, "state">): boolean {
  return state === "paused";
}

/** Returns `web, proxy`, for people. */
export function namesOf(containers: readonly Pick<PodContainer, "name">[]): string {
  return containers.map(({ name }) => name).join(", ");
}
