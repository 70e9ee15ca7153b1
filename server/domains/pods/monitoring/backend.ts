import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type { Backend } from "../../../domain/backend.ts";

/**
 * Creates Podman as a backend for ListBackends, the health service and doctor. It is degraded while it cannot read some pods.
 * @param isLate whether Podman does not respond at the moment, so that its last state is reported
 */
export function createPodBackend(
  runtime: Pick<PodRuntime, "kind" | "read" | "info" | "subscribe">,
  isLate: () => boolean,
): Backend {
  /** The last known version. */
  let version: string | undefined;
  return {
    domain: "pods",
    name: "podman",
    kind: runtime.kind,
    services: ["hostplane.v1.PodService", "v1alpha.PublicAPI"],
    async status() {
      try {
        const { value, readAtMs } = await runtime.read();
        version = (await runtime.info()).version;
        const snapshotAgeMs = performance.now() - readAtMs;
        const missing = [
          ...(isLate()
            ? [`Podman does not respond at the moment; it may be waiting for a container to stop`]
            : []),
          ...value.unreadable.map(({ podUuid, why }) => `pod ${podUuid} cannot be read: ${why}`),
        ];
        return { health: missing.length === 0 ? "ok" : "degraded", version, missing, snapshotAgeMs };
      } catch (error) {
        const missing = [error instanceof Error ? error.message : String(error)];
        return { health: "unavailable", version, missing, snapshotAgeMs: undefined };
      }
    },
    subscribe: (onChange) => runtime.subscribe(onChange),
  };
}
