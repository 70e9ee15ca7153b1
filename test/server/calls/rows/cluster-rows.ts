import { answers, type Row, refuses } from "./row.ts";

export const demo = {
  name: "demo",
  k8sVersion: "1.35.4",
  controlPlaneNodes: { count: 1, instanceType: "standard" },
  workerNodePools: [{ name: "workers", count: 1, instanceType: "standard" }],
};

/** Calls for Kubernetes clusters. A cluster is created and removed before any of its machines is installed. */
export const clusterRows: readonly Row[] = [
  answers(
    "cnct.kaas.api.Cluster/GetVersionInformation",
    {},
    { ok: true, versionInformation: { goVersion: /^node /, compiler: /^TypeScript / } },
  ),
  answers("cnct.kaas.api.Cluster/GetClusterList", {}, { ok: true }),
  refuses("cnct.kaas.api.Cluster/CreateCluster", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "name"),
  answers("cnct.kaas.api.Cluster/CreateCluster", demo, {
    ok: true,
    cluster: { name: "demo", status: "PROVISIONING" },
  }),
  answers("cnct.kaas.api.Cluster/GetCluster", { name: "demo" }, { cluster: { kubeconfig: /^apiVersion: / } }),
  refuses("cnct.kaas.api.Cluster/GetCluster", { name: "none" }, "NOT_FOUND", "CLUSTER_NOT_FOUND"),
  answers("cnct.kaas.api.Cluster/GetClusterNodesStatus", { clusterName: "demo" }, { Name: "demo" }),
  refuses(
    "cnct.kaas.api.Cluster/GetClusterNodesStatus",
    { clusterName: "none" },
    "NOT_FOUND",
    "CLUSTER_NOT_FOUND",
  ),
  answers(
    "cnct.kaas.api.Cluster/GetUpgradeClusterInformation",
    { name: "demo" },
    { ok: true, versions: ["1.36.3"] },
  ),
  refuses(
    "cnct.kaas.api.Cluster/GetUpgradeClusterInformation",
    { name: "none" },
    "NOT_FOUND",
    "CLUSTER_NOT_FOUND",
  ),
  answers(
    "cnct.kaas.api.Cluster/AddNodePool",
    { clusterName: "demo", workerNodePools: [{ name: "gpus", count: 1, instanceType: "gpu" }] },
    { ok: true },
  ),
  answers(
    "cnct.kaas.api.Cluster/ScaleNodePool",
    { clusterName: "demo", nodePools: [{ name: "workers", count: 2 }] },
    { ok: true },
  ),
  refuses(
    "cnct.kaas.api.Cluster/ScaleNodePool",
    { clusterName: "demo", nodePools: [{ name: "workers" }] },
    "INVALID_ARGUMENT",
    "SCALE_TO_ZERO",
  ),
  answers(
    "cnct.kaas.api.Cluster/DeleteNodePool",
    { clusterName: "demo", nodePoolNames: ["gpus"] },
    { ok: true },
  ),
  refuses(
    "cnct.kaas.api.Cluster/UpgradeCluster",
    { name: "demo", version: "1.34.8" },
    "FAILED_PRECONDITION",
    "UPGRADE_REFUSED",
  ),
  answers("hostplane.v1.ClusterService/WatchClusters", {}, { clusters: [{ name: "demo" }] }),
  answers("hostplane.v1.ClusterService/ListMachines", { cluster: "demo" }, {}),
  refuses("hostplane.v1.ClusterService/ListMachines", { cluster: "none" }, "NOT_FOUND", "CLUSTER_NOT_FOUND"),
  answers("hostplane.v1.ClusterService/GetKubeconfig", { cluster: "demo" }, { kubeconfig: /^apiVersion: / }),
  answers("hostplane.v1.ClusterService/RotateKubeconfig", { cluster: "demo" }, { expiresAt: /^20/ }),
  answers("hostplane.v1.ClusterService/ListStrays", {}, {}),
  refuses("hostplane.v1.ClusterService/AdoptStray", { systemId: "mmmmmm" }, "NOT_FOUND", "STRAY_NOT_FOUND"),
  refuses("hostplane.v1.ClusterService/ReleaseStray", {}, "INVALID_ARGUMENT", "INVALID_FIELD"),
  answers("cnct.kaas.api.Cluster/DeleteCluster", { name: "demo" }, { ok: true }),
];
