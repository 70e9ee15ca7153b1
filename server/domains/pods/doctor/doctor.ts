import type { Inspection } from "../../../domain/inspection.ts";
import type { PodsConfig } from "../config.ts";
import { openRealPods } from "../system/open-real.ts";
import { createPodmanInspector } from "./inspect-podman.ts";

/** Creates the checks of Podman. */
export async function inspectPods(config: PodsConfig): Promise<Inspection> {
  const { runtime, close } = openRealPods(config);
  return { inspectors: [createPodmanInspector(runtime)], close };
}
