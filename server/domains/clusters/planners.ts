import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { ClusterService } from "../../../gen/hostplane/v1/cluster_pb.ts";
import type { PlannedMutation } from "../../operations/mutation.ts";
import { type PlannerRegistration, registerPlanners } from "../../operations/planner.ts";
import { formatKubernetesVersion, parseKubernetesVersion } from "./bootstrap/kubernetes-version.ts";
import { assertClusterName } from "./bootstrap/names.ts";
import { poolNamesFrom, poolSizesFrom, wantedClusterFrom, wantedPoolsFrom } from "./cluster-requests.ts";
import { clusterResource } from "./cluster-resource.ts";
import type { Clusters } from "./clusters.ts";
import type { ClusterRecord, PoolRecord } from "./store/records.ts";
import type { StrayCalls } from "./stray-calls.ts";

/** Creates the dry runs of calls about clusters. */
export function createClusterPlanners(
  clusters: Clusters,
  strays: Pick<StrayCalls, "plan">,
): readonly PlannerRegistration[] {
  return [createKaasPlanners(clusters), createClusterServicePlanners(clusters, strays)];
}

function createKaasPlanners({ plan }: Clusters): PlannerRegistration {
  return registerPlanners(Cluster, {
    async createCluster(request) {
      const wanted = wantedClusterFrom(request);
      const { name, k8sVersion, controlPlaneVersion, endpoint } = await plan.create(wanted, "");
      const { controlPlane, pools } = wanted;
      const place = endpoint === undefined ? "of its first machine" : endpoint;
      return describe("create", name, [
        `cluster ${name} will be created with the address ${place}`,
        `its control plane will have ${machinesOf(controlPlane)} with Kubernetes ${controlPlaneVersion}`,
        ...pools.map((pool) => willHave(pool, k8sVersion)),
      ]);
    },
    async deleteCluster({ name }) {
      assertClusterName(name, "name");
      const { pools, controlPlane, isDeleting } = await plan.remove(name);
      if (isDeleting) {
        return describe("delete", name, [`cluster ${name} is already being deleted`]);
      }
      const count = [controlPlane, ...pools].reduce((sum, each) => sum + each.count, 0);
      return describe(
        "delete",
        name,
        [`cluster ${name} will be deleted and its machines released to MAAS`],
        [`all data on the disks of ${count} machines, and all keys of the cluster`],
      );
    },
    async addNodePool({ clusterName, workerNodePools }) {
      assertClusterName(clusterName, "clusterName");
      const pools = wantedPoolsFrom(workerNodePools);
      const { k8sVersion } = await plan.addPools(clusterName, pools);
      return describe(
        "addPools",
        clusterName,
        pools.map((pool) => willHave(pool, k8sVersion)),
      );
    },
    async deleteNodePool({ clusterName, nodePoolNames }) {
      assertClusterName(clusterName, "clusterName");
      const names = poolNamesFrom(nodePoolNames);
      const { pools } = await plan.removePools(clusterName, names);
      const gone = pools.filter(({ name }) => names.includes(name));
      return describe(
        "removePools",
        clusterName,
        gone.map(({ name }) => `node pool ${name} will be removed after its nodes are drained`),
        gone.map((pool) => lossOf(pool.name, pool.count)),
      );
    },
    async scaleNodePool({ clusterName, nodePools }) {
      assertClusterName(clusterName, "clusterName");
      const sizes = poolSizesFrom(nodePools);
      const cluster = await plan.scalePools(clusterName, sizes);
      const steps = sizes.map(({ name, count }) => ({ name, count, before: countOf(cluster, name) }));
      return describe(
        "scalePools",
        clusterName,
        steps.map(
          ({ name, count, before }) => `the node pool ${name} will have ${count} machines (now ${before})`,
        ),
        steps.flatMap(({ name, count, before }) => (count < before ? [lossOf(name, before - count)] : [])),
      );
    },
    async upgradeCluster(request) {
      assertClusterName(request.name, "name");
      const version = parseKubernetesVersion(request.version, "version");
      const { cluster, controlPlaneVersion } = await plan.upgrade(request.name, version);
      return describe(
        "upgrade",
        cluster.name,
        [
          `the control plane will have Kubernetes ${controlPlaneVersion} (now ${cluster.controlPlaneVersion})`,
          `the node pools will have Kubernetes ${formatKubernetesVersion(version)} (now ${cluster.k8sVersion})`,
          "machines are replaced one at a time: a new one is installed, the old one is drained and released",
        ],
        ["all data on the disks of the replaced machines"],
      );
    },
  });
}

function createClusterServicePlanners(
  { kubeconfigs }: Clusters,
  strays: Pick<StrayCalls, "plan">,
): PlannerRegistration {
  return registerPlanners(ClusterService, {
    async rotateKubeconfig({ cluster }) {
      assertClusterName(cluster, "cluster");
      const { name } = await kubeconfigs.planRotate(cluster);
      return describe("rotateKubeconfig", name, [
        `the kubeconfig of ${name} will have a new certificate; the old one stays valid until it expires`,
      ]);
    },
    adoptStray: ({ systemId }) => strays.plan.adopt(systemId),
    releaseStray: ({ systemId }) => strays.plan.release(systemId),
  });
}

function machinesOf({ count, instanceType }: Pick<PoolRecord, "count" | "instanceType">): string {
  return count === 1 ? `1 ${instanceType} machine` : `${count} ${instanceType} machines`;
}

function willHave(pool: PoolRecord, version: string): string {
  return `the node pool ${pool.name} will have ${machinesOf(pool)} with Kubernetes ${version}`;
}

function lossOf(pool: string, count: number): string {
  return `all data on the disks of ${count} ${count === 1 ? "machine" : "machines"} of the node pool ${pool}`;
}

function countOf({ pools }: ClusterRecord, name: string): number {
  return pools.find((pool) => pool.name === name)?.count ?? 0;
}

/** Describes a change of a spec: one step, in one transaction. The reconciler carries it out later. */
function describe(
  verb: string,
  name: string,
  changes: readonly string[],
  losses: readonly string[] = [],
): PlannedMutation {
  const kind = `clusters.${verb}`;
  return {
    kind,
    resource: clusterResource(name),
    backend: "store",
    plan: { changes, losses },
    steps: [{ name: kind, command: [] }],
    pointOfNoReturn: 0,
  };
}
