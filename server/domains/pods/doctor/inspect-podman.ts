import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type { Inspector } from "../../../domain/inspection.ts";

/** Checks whether the gateway can access the Podman socket, and whether Podman keeps events and logs. */
export function createPodmanInspector(runtime: Pick<PodRuntime, "inspect">): Inspector {
  return { name: "podman", inspect: () => runtime.inspect() };
}
