import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";

/** The system behind the pods domain. */
export interface PodSystem {
  readonly runtime: PodRuntime;
  close(): Promise<void>;
}

/** Puts the system together. `close` closes the runtime. */
export function podSystem(runtime: PodRuntime): PodSystem {
  return { runtime, close: () => runtime.close() };
}
