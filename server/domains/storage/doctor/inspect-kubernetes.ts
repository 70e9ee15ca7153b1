import type { KubernetesAdapter } from "../../../../adapters/kubernetes/adapter.ts";
import type { Inspector } from "../../../domain/inspection.ts";

/**
 * Checks whether the Kubernetes cluster accepts the gateway, and which of the resources that the gateway reads exist and are
 * readable.
 */
export function createKubernetesInspector(kubernetes: Pick<KubernetesAdapter, "inspect">): Inspector {
  return { name: "kubernetes", inspect: () => kubernetes.inspect() };
}
