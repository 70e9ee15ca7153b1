import type { PodRuntime } from "../../../adapters/podman/adapter.ts";
import type { Backend } from "../../backend.ts";

/** Podman as ListBackends, the health service and doctor see it: degraded while it cannot tell of some pods. */
export function createPodBackend(runtime: PodRuntime): Backend {
  /** The last one that is known. */
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
        const missing = value.unreadable.map(
          ({ podUuid, why }) => `the pod ${podUuid} cannot be read: ${why}`,
        );
        const snapshotAgeMs = performance.now() - readAtMs;
        return { health: missing.length === 0 ? "ok" : "degraded", version, missing, snapshotAgeMs };
      } catch (error) {
        const missing = [error instanceof Error ? error.message : String(error)];
        return { health: "unavailable", version, missing, snapshotAgeMs: undefined };
      }
    },
    subscribe: (onChange) => runtime.subscribe(onChange),
  };
}
