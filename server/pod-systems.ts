import type { PodRuntime } from "../adapters/podman/adapter.ts";
import { createPodman } from "../adapters/podman/podman.ts";
import { createPodmanSandbox } from "../adapters/podman/sandbox.ts";
import type { PodsConfig } from "./config/schema.ts";

/** What stands behind the domain of pods. */
export interface PodSystem {
  readonly runtime: PodRuntime;
  close(): Promise<void>;
}

/** Pods that touch nothing of the host. */
export function createSandboxPods(): PodSystem {
  return podSystem(createPodmanSandbox());
}

/** The Podman that the configuration names. */
export function createRealPods({ podman }: PodsConfig): PodSystem {
  return podSystem(createPodman({ socketPath: podman.socket }));
}

function podSystem(runtime: PodRuntime): PodSystem {
  return { runtime, close: () => runtime.close() };
}
