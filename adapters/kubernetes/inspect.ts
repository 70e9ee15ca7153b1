import { hasReason } from "../host/infra-error.ts";
import type {
  KubernetesFinding,
  KubernetesInspection,
  KubernetesSnapshot,
  KubernetesState,
} from "./adapter.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import { kubernetesReasons } from "./reasons.ts";
import { titleOf, type WatchedName, watchedKinds } from "./resources.ts";

export interface InspectKubernetesInput {
  readonly access: ClusterAccess;
  /** Rook's namespace. */
  readonly namespace: string;
  readonly read: () => Promise<KubernetesSnapshot>;
  /** Reports whether the cluster does not have the kind. */
  readonly isAbsent: (name: WatchedName) => boolean;
}

const parts = {
  nodes: "nodes",
  pods: "storagePods",
  deployments: "deployments",
  cephClusters: "cephClusters",
  blockPools: "blockPools",
  filesystems: "filesystems",
  objectStores: "objectStores",
  koorClusters: "koorClusters",
} as const satisfies Record<WatchedName, keyof KubernetesState>;

/** Collects the findings of `hostplane doctor` about a cluster. Changes nothing. Never throws. */
export async function inspectKubernetes(input: InspectKubernetesInput): Promise<KubernetesInspection> {
  const { access, read } = input;
  try {
    access.load();
  } catch (error) {
    return { version: undefined, findings: [{ ok: false, what: wordsOf(error), fix: kubeconfigFix }] };
  }
  try {
    const { value, staleBecause } = await read();
    if (staleBecause !== undefined) {
      return { version: undefined, findings: [unreachable(staleBecause)] };
    }
    const version = value.version ?? "of unknown version";
    const entered = { ok: true, what: `Kubernetes ${version} is accessible: ${access.describe()}` };
    const names = Object.keys(parts) as WatchedName[];
    return { version, findings: [entered, ...names.map((name) => inspectKind(name, value, input))] };
  } catch (error) {
    const isDenied = hasReason(error, kubernetesReasons.KUBERNETES_DENIED);
    return { version: undefined, findings: [unreachable(wordsOf(error), isDenied)] };
  }
}

const kubeconfigFix =
  "set storage.kubernetes.kubeconfig to a kubeconfig that the gateway may read, with the account in deploy/kubernetes/cluster-role.yaml (docs/storage.md)";

function unreachable(what: string, isDenied = false): KubernetesFinding {
  const fix = isDenied
    ? "give storage.kubernetes.kubeconfig a valid user: the token of the account in deploy/kubernetes/cluster-role.yaml (docs/storage.md)"
    : "check that the API server is running and that storage.kubernetes names it";
  return { ok: false, what, fix };
}

function inspectKind(
  name: WatchedName,
  state: KubernetesState,
  { isAbsent, namespace }: InspectKubernetesInput,
): KubernetesFinding {
  const title = titleOf(watchedKinds[name]);
  if (name === "koorClusters" && isAbsent(name)) {
    return { ok: true, what: `${title} is not installed, so there is no KoorCluster to report` };
  }
  const part = state[parts[name]];
  if (name === "cephClusters" && "ok" in part && part.ok.length === 0) {
    const fix = "correct storage.kubernetes.namespace: kubectl get cephclusters -A shows existing ones";
    return { ok: false, what: `${title}: none in ${namespace}`, fix };
  }
  if ("ok" in part) {
    return { ok: true, what: `${title}: ${part.ok.length}` };
  }
  const fix = isAbsent(name)
    ? "install Rook with its custom resource definitions; without it, remove storage.kubernetes"
    : "kubectl apply -f deploy/kubernetes/cluster-role.yaml, and check that its bindings name the gateway's account";
  return { ok: false, what: part.missing, fix };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
