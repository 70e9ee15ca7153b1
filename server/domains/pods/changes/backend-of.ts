import type { Reason } from "../../../../adapters/host/define-reasons.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";

/**
 * Returns the identity of a Podman store: host and directory, e.g. `podman/HOST:/var/lib/containers/storage`.
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
 * Rejects a Podman store other than the expected one: what is missing here may exist in the other one.
 * @throws InfraError with the reason, and as `backendOf`
 */
export async function assertBackend(
  runtime: Pick<PodRuntime, "kind" | "info">,
  host: string,
  expected: string,
  reason: Reason,
  signal: AbortSignal,
): Promise<void> {
  const backend = await backendOf(runtime, host, signal);
  if (backend !== expected) {
    throw new InfraError(reason, `it belongs to ${expected}, but this gateway now uses ${backend}`);
  }
}
