import type { PodContainer, RuntimePod } from "../../../../adapters/podman/runtime-state.ts";

/** Its programs: all containers but the one that only holds the pod together. */
export function appsOf({ containers }: Pick<RuntimePod, "containers">): readonly PodContainer[] {
  return containers.filter(({ isInfra }) => !isInfra);
}

/** Whether it runs, or is paused, or about to end. */
export function isUp({ state }: Pick<PodContainer, "state">): boolean {
  return state === "running" || state === "paused" || state === "stopping";
}

export function isPaused({ state }: Pick<PodContainer, "state">): boolean {
  return state === "paused";
}

/** `web, proxy`, for people. */
export function namesOf(containers: readonly Pick<PodContainer, "name">[]): string {
  return containers.map(({ name }) => name).join(", ");
}
