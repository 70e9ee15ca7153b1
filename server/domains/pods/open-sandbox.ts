import { createPodmanSandbox } from "../../../adapters/podman/sandbox.ts";
import { type PodSystem, podSystem } from "./system.ts";

/** Creates pods in memory. */
export function openSandboxPods(): PodSystem {
  return podSystem(createPodmanSandbox());
}
