import type { KubernetesAdapter } from "../../adapters/kubernetes/adapter.ts";
import type { Inspector } from "./inspection.ts";

/** The Kubernetes cluster: whether it lets the gateway in, and which of what it reads is there and may be read. */
export function createKubernetesInspector(kubernetes: Pick<KubernetesAdapter, "inspect">): Inspector {
  return { name: "kubernetes", inspect: () => kubernetes.inspect() };
}
