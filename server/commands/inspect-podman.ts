import type { PodRuntime } from "../../adapters/podman/adapter.ts";
import type { Inspector } from "./inspection.ts";

/** Podman: whether its socket is open to the gateway, and whether it keeps events and logs. */
export function createPodmanInspector(runtime: Pick<PodRuntime, "inspect">): Inspector {
  return { name: "podman", inspect: () => runtime.inspect() };
}
