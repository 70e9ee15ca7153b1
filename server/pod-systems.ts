import type { PodRuntime } from "../adapters/podman/adapter.ts";
import type { PodsConfig } from "./config/schema.ts";

/** What stands behind the domain of pods. */
export interface PodSystem {
  readonly runtime: PodRuntime;
  close(): Promise<void>;
}

/** The Podman that the configuration names. */
export async function createRealPods({ podman }: PodsConfig): Promise<PodSystem> {
  const { createPodman } = await import("../adapters/podman/podman.ts");
  return podSystem(createPodman({ socketPath: podman.socket }));
}

export function podSystem(runtime: PodRuntime): PodSystem {
  return { runtime, close: () => runtime.close() };
}
