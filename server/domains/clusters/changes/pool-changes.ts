import type {
  AddNodePoolMsg,
  DeleteNodePoolMsg,
  ScaleNodePoolMsg,
} from "../../../../gen/cnct/kaas/api/api_pb.ts";
import type { StoredChange } from "../../../domain/stored-change.ts";
import { assertClusterName } from "../bootstrap/names.ts";
import {
  type NodePoolSpec,
  type PoolSize,
  poolNamesFrom,
  poolSizesFrom,
  poolSpecsFrom,
} from "../specs/cluster-requests.ts";
import { clusterResource } from "../specs/cluster-resource.ts";
import type { ChangedCluster, ClusterSpecs } from "../specs/cluster-specs.ts";
import { describePool, describePoolLoss } from "./describe-machines.ts";
import { factsOfCluster } from "./facts-of-cluster.ts";

interface InCluster {
  readonly clusterName: string;
}

const resourceOf = ({ clusterName }: InCluster) => clusterResource(clusterName);

interface AddSpec extends InCluster {
  readonly pools: readonly NodePoolSpec[];
}

/** clusters.addPools: adds node pools to a cluster. */
export function createAddNodePools(
  specs: ClusterSpecs,
): StoredChange<AddNodePoolMsg, AddSpec, ChangedCluster> {
  return {
    kind: "clusters.addPools",
    resourceOf,
    parse({ clusterName, workerNodePools }) {
      assertClusterName(clusterName, "clusterName");
      return { clusterName, pools: poolSpecsFrom(workerNodePools) };
    },
    apply: ({ clusterName, pools }, how) => specs.addPools(clusterName, pools, how),
    describe: ({ pools }, cluster) => ({
      changes: pools.map((pool) => describePool(pool, cluster.k8sVersion)),
      facts: factsOfCluster(cluster),
    }),
  };
}

interface RemoveSpec extends InCluster {
  readonly names: readonly string[];
}

/** clusters.removePools: removes node pools from a cluster. */
export function createDeleteNodePools(
  specs: ClusterSpecs,
): StoredChange<DeleteNodePoolMsg, RemoveSpec, ChangedCluster> {
  return {
    kind: "clusters.removePools",
    resourceOf,
    parse({ clusterName, nodePoolNames }) {
      assertClusterName(clusterName, "clusterName");
      return { clusterName, names: poolNamesFrom(nodePoolNames) };
    },
    apply: ({ clusterName, names }, how) => specs.removePools(clusterName, names, how),
    describe({ names }, cluster) {
      const gone = cluster.pools.filter(({ name }) => names.includes(name));
      return {
        changes: gone.map(({ name }) => `node pool ${name} will be removed after its nodes are drained`),
        losses: gone.map(({ name, count }) => describePoolLoss(name, count)),
        facts: factsOfCluster(cluster),
      };
    },
  };
}

interface ScaleSpec extends InCluster {
  readonly sizes: readonly PoolSize[];
}

/** clusters.scalePools: sets the number of machines of node pools. */
export function createScaleNodePools(
  specs: ClusterSpecs,
): StoredChange<ScaleNodePoolMsg, ScaleSpec, ChangedCluster> {
  return {
    kind: "clusters.scalePools",
    resourceOf,
    parse({ clusterName, nodePools }) {
      assertClusterName(clusterName, "clusterName");
      return { clusterName, sizes: poolSizesFrom(nodePools) };
    },
    apply: ({ clusterName, sizes }, how) => specs.scalePools(clusterName, sizes, how),
    describe({ sizes }, cluster) {
      const countOf = (name: string) => cluster.pools.find((pool) => pool.name === name)?.count ?? 0;
      return {
        changes: sizes.map(
          ({ name, count }) => `the node pool ${name} will have ${count} machines (now ${countOf(name)})`,
        ),
        losses: sizes.flatMap(({ name, count }) =>
          count < countOf(name) ? [describePoolLoss(name, countOf(name) - count)] : [],
        ),
        facts: factsOfCluster(cluster),
      };
    },
  };
}
