import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";

/**
 * Has the runtime look at what a change has made of images, of which it tells no events but by looking: what it finds is then
 * known as this change's work. That the runtime is away now is no failure of the change.
 */
export async function lookAgain(runtime: Pick<PodRuntime, "read">): Promise<void> {
  await runtime.read().catch(() => {});
}
