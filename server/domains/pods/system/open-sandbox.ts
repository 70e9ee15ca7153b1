import { createPodmanSandbox, quietPods, sandboxImage } from "../../../../adapters/podman/sandbox.ts";
import type { DemoWorld } from "../../../domain/demo-world.ts";
import { createPodWorld } from "./sandbox-world.ts";
import { type PodSystem, podSystem } from "./system.ts";

/** Creates pods in memory. */
export function openSandboxPods(world?: DemoWorld): PodSystem {
  if (world === undefined) {
    return podSystem(createPodmanSandbox());
  }
  const { clock, random, sizes } = world;
  const further = createPodWorld(random.fork("pods"), sizes.pods - quietPods.length, sandboxImage);
  return podSystem(createPodmanSandbox({ clock, pods: [...quietPods, ...further] }));
}
