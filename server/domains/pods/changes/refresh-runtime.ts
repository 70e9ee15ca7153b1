import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";

/**
 * Refreshes the runtime's state, which is the only way to detect changes of images. What it finds is then attributed to the
 * current change. An unavailable runtime does not fail the change.
 */
export async function refreshRuntime(runtime: Pick<PodRuntime, "read">): Promise<void> {
  await runtime.read().catch(() => {});
}
