import type { PodContainer, PodPhase } from "./runtime-state.ts";

/** What a pod does, by what its containers do: as its apps do, and as long as none was ever started, as its infra container does. */
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
