import { createPodman } from "../../../../adapters/podman/podman.ts";
import type { PodsConfig } from "../config.ts";
import { type PodSystem, podSystem } from "./system.ts";

/** Connects to the configured Podman. */
export function openRealPods({ podman }: PodsConfig): PodSystem {
  return podSystem(createPodman({ socketPath: podman.socket }));
}
