import type { ApiClient } from "./api-client.ts";

const path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const apiGroup = "rbac.authorization.k8s.io";

/**
 * Bindings that `kubeadm init` and `kubeadm upgrade apply` create and `kubeadm join` expects. Since 1.36, an API
 * server's certificate for kubelets belongs to no group; since 1.29, that of admin.conf belongs to
 * `kubeadm:cluster-admins`.
 */
const bindings = [
  {
    name: "kubeadm:apiserver-kubelet-client",
    role: "system:kubelet-api-admin",
    subject: { apiGroup, kind: "User", name: "kube-apiserver-kubelet-client" },
  },
  {
    name: "kubeadm:cluster-admins",
    role: "cluster-admin",
    subject: { apiGroup, kind: "Group", name: "kubeadm:cluster-admins" },
  },
] as const;

/**
 * Creates the role bindings that machines of a newer version need and that the cluster's first version may not have
 * created. Without the first one, logs, exec and port-forward are forbidden after an upgrade from 1.35 to 1.36.
 * @throws InfraError as WorkloadCluster
 */
export async function createKubeadmBindings(api: ApiClient, end: AbortSignal): Promise<void> {
  for (const { name, role, subject } of bindings) {
    const body = {
      apiVersion: `${apiGroup}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup, kind: "ClusterRole", name: role },
      subjects: [subject],
    };
    await api.send({ method: "POST", path, body, what: `bind ${name}` }, end, [409]);
  }
}
