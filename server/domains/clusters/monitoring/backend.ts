import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import { type Backend, type BackendStatus, createPolledStatus } from "../../../domain/backend.ts";
import { instanceTypes } from "../bootstrap/instance-type.ts";
import type { ClusterImages } from "../specs/cluster-images.ts";

/** How long a status is reused. It depends on the account and the images as much as on MAAS itself. */
const freshMs = 10_000;
const patienceMs = 5_000;

/**
 * Creates MAAS as a backend for ListBackends, the health service and doctor. It is degraded while MAAS has no image for
 * clusters. Existing clusters keep running while MAAS is unreachable.
 */
export function createMaasBackend(
  maas: Pick<MaasAdapter, "kind" | "version" | "whoami">,
  images: ClusterImages,
): Backend {
  async function fetchStatus(): Promise<BackendStatus> {
    try {
      const signal = AbortSignal.timeout(patienceMs);
      const [{ version }, offered] = await Promise.all([
        maas.version(signal),
        images.read(),
        maas.whoami(signal),
      ]);
      const isOffered = instanceTypes.some((type) => offered.versionsOf(type).length > 0);
      const missing = isOffered ? [] : [noImages];
      const health = isOffered ? "ok" : "degraded";
      return { health, version, missing, snapshotAgeMs: undefined };
    } catch (error) {
      const missing = [messageOf(error)];
      return { health: "unavailable", version: undefined, missing, snapshotAgeMs: undefined };
    }
  }

  return {
    domain: "clusters",
    name: "maas",
    kind: maas.kind,
    services: ["cnct.kaas.api.Cluster", "hostplane.v1.ClusterService"],
    ...createPolledStatus(fetchStatus, freshMs),
  };
}

const noImages =
  "MAAS has no Kubernetes image: upload one with a name such as os=ubuntu-noble,k8s=1.36.3,standard (docs/reference/domains/maas-images.md)";

function messageOf(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") {
    return `MAAS did not respond within ${patienceMs / 1000} s`;
  }
  return error instanceof Error ? error.message : String(error);
}
