import { lazy } from "preact/compat";
import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { ClusterService } from "../../../gen/hostplane/v1/cluster_pb.ts";
import type { Resource } from "../../../gen/hostplane/v1/inventory_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import type { RowAction } from "../../parts/table/table-props.ts";
import type { ResourceKind } from "../../resources/kind.ts";
import { hasRole } from "../../session.ts";
import { openPanel } from "../../shell/side-panel.tsx";

export const clusterKind: ResourceKind = {
  type: "cluster",
  title: "cluster",
  icon: "hexagon",
  pathOf: ({ title }) => `/clusters/${encodeURIComponent(title)}`,
  placeOf: ({ labels }) => (labels.k8s_version === undefined ? "" : `Kubernetes ${labels.k8s_version}`),
  actions: () => (hasRole(Role.OPERATOR) ? clusterActions : []),
};

const clusterActions: readonly RowAction<Resource>[] = [
  {
    text: "Upgrade…",
    icon: "up",
    key: "u",
    appliesTo: isStaying,
    run: ({ title, labels }) => {
      const UpgradeCluster = lazy(async () => (await import("./upgrade-cluster.tsx")).UpgradeCluster);
      openPanel(`Upgrade ${title}`, () => (
        <UpgradeCluster cluster={title} k8sVersion={labels.k8s_version ?? ""} />
      ));
    },
  },
  {
    text: "Add pool…",
    icon: "plus",
    key: "a",
    appliesTo: isStaying,
    run: ({ title }) => {
      const AddPool = lazy(async () => (await import("./add-pool.tsx")).AddPool);
      openPanel(`Add a node pool to ${title}`, () => <AddPool cluster={title} />);
    },
  },
  {
    text: "Renew kubeconfig…",
    icon: "key",
    appliesTo: isStaying,
    run: ({ title }) => renewKubeconfig(title),
  },
  {
    text: "Delete…",
    icon: "trash",
    key: "delete",
    isDestructive: true,
    appliesTo: isStaying,
    run: ({ title }) =>
      propose({
        title: `Delete the cluster ${title}`,
        label: "Delete",
        method: Cluster.method.deleteCluster,
        request: { name: title },
        isDangerous: true,
        confirmName: title,
      }),
  },
];

/** A cluster that is being deleted cannot be changed. */
function isStaying({ state }: Resource): boolean {
  return state !== "STOPPING";
}

/** Proposes a new certificate for a cluster's kubeconfig. */
export function renewKubeconfig(cluster: string): void {
  propose({
    title: `Renew the kubeconfig of ${cluster}`,
    label: "Renew",
    method: ClusterService.method.rotateKubeconfig,
    request: { cluster },
  });
}
