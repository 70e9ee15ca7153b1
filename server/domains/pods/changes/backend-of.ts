import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";

/**
 * What tells one store of pods from another: the host and the directory, as `podman/HOST:/var/lib/containers/storage`.
 * @throws InfraError as `PodRuntime.info`
 */
export async function backendOf(
  runtime: Pick<PodRuntime, "kind" | "info">,
  host: string,
  signal: AbortSignal,
): Promise<string> {
  if (runtime.kind === "sandbox") {
    return `sandbox-podman/${host}`;
  }
  const { storeDirectory } = await runtime.info(signal);
  return `podman/${host}:${storeDirectory}`;
}
