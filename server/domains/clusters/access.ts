import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { ClusterService } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { type AccessRegistration, registerAccess } from "../../rpc/access/method-access.ts";
import { clusterResource } from "./specs/cluster-resource.ts";

const byName = { touches: ({ name }: { readonly name: string }) => [clusterResource(name)] };
const byClusterName = {
  touches: ({ clusterName }: { readonly clusterName: string }) => [clusterResource(clusterName)],
};
const byCluster = { touches: ({ cluster }: { readonly cluster: string }) => [clusterResource(cluster)] };

/** What the calls of the services for clusters concern. Stray machines belong to no cluster. */
export const clusterAccess: readonly AccessRegistration[] = [
  registerAccess(Cluster, {
    createCluster: byName,
    getCluster: byName,
    deleteCluster: byName,
    getClusterList: {
      shows: ({ ok = false, clusters = [] }, sees) => ({
        ok,
        clusters: clusters.filter(({ name = "" }) => sees(clusterResource(name))),
      }),
    },
    getClusterNodesStatus: byClusterName,
    getVersionInformation: "own",
    addNodePool: byClusterName,
    deleteNodePool: byClusterName,
    scaleNodePool: byClusterName,
    getUpgradeClusterInformation: byName,
    upgradeCluster: byName,
  }),
  registerAccess(ClusterService, {
    watchClusters: {
      shows: ({ clusters = [], removed = [], readAt }, sees) => ({
        clusters: clusters.filter(({ name = "" }) => sees(clusterResource(name))),
        removed: removed.filter((name) => sees(clusterResource(name))),
        ...(readAt === undefined ? {} : { readAt }),
      }),
    },
    listMachines: byCluster,
    getKubeconfig: byCluster,
    rotateKubeconfig: byCluster,
  }),
];
