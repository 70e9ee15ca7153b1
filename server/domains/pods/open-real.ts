import type { PodRuntime } from "../../../adapters/podman/adapter.ts";
import type { PodsConfig } from "../../config/schema.ts";

/** The system behind the pods domain. */
export interface PodSystem {
  readonly runtime: PodRuntime;
  close(): Promise<void>;
}

/** Connects to the configured Podman. */
export async function createRealPods({ podman }: PodsConfig): Promise<PodSystem> {
  const { createPodman } = await import("../../../adapters/podman/podman.ts");
  return podSystem(createPodman({ socketPath: podman.socket }));
}

export function podSystem(runtime: PodRuntime): PodSystem {
  return { runtime, close: () => runtime.close() };
}
