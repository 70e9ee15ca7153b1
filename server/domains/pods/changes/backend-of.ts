import { InfraError } from "../../../../adapters/host/infra-error.ts";
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

/**
 * Refuses to go on with another Podman than was meant: what is not there may well be in the other one.
 * @throws InfraError with the reason, and as `backendOf`
 */
export async function assertBackend(
  runtime: Pick<PodRuntime, "kind" | "info">,
  host: string,
  wanted: string,
  reason: "POD_NOT_FOUND" | "IMAGE_NOT_FOUND",
  signal: AbortSignal,
): Promise<void> {
  const backend = await backendOf(runtime, host, signal);
  if (backend !== wanted) {
    throw new InfraError(reason, `it is of ${wanted}, and this gateway has ${backend} now`);
  }
}
