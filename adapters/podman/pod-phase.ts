import type { PodContainer, PodPhase } from "./runtime-state.ts";

/**
 * Derives a pod's phase from its app containers, or from its infra container while no app container has been started.
 */
export function podPhaseFrom(containers: readonly Pick<PodContainer, "isInfra" | "state">[]): PodPhase {
  const byApps = phaseOfAll(containers.filter(({ isInfra }) => !isInfra));
  return byApps === "created" ? phaseOfAll(containers) : byApps;
}

function phaseOfAll(containers: readonly Pick<PodContainer, "state">[]): PodPhase {
  const states = containers.map(({ state }) => state);
  if (states.some((state) => state === "running" || state === "paused" || state === "stopping")) {
    return "running";
  }
  if (states.includes("unknown")) {
    return "unknown";
  }
  return states.includes("exited") ? "exited" : "created";
}
