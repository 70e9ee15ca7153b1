import type {
  CreateClusterMsg,
  DeleteClusterMsg,
  UpgradeClusterMsg,
} from "../../../../gen/cnct/kaas/api/api_pb.ts";
import type { StoredChange } from "../../../domain/stored-change.ts";
import {
  formatKubernetesVersion,
  type KubernetesVersion,
  parseKubernetesVersion,
} from "../bootstrap/kubernetes-version.ts";
import { assertClusterName } from "../bootstrap/names.ts";
import { type ClusterSpec, clusterSpecFrom } from "../specs/cluster-requests.ts";
import { clusterResource } from "../specs/cluster-resource.ts";
import type {
  ChangedCluster,
  ClusterSpecs,
  CreatedCluster,
  UpgradedCluster,
} from "../specs/cluster-specs.ts";
import { describeMachines, describePool } from "./describe-machines.ts";
import { factsOfCluster } from "./facts-of-cluster.ts";

interface CreateSpec {
  readonly cluster: ClusterSpec;
  readonly actor: string;
}

/** clusters.create: adds the spec of a cluster. */
export function createCreateCluster(
  specs: ClusterSpecs,
): StoredChange<CreateClusterMsg, CreateSpec, CreatedCluster> {
  return {
    kind: "clusters.create",
    resourceOf: ({ name }) => clusterResource(name),
    parse: (request, actor) => ({ cluster: clusterSpecFrom(request), actor }),
    apply: ({ cluster, actor }, how) => specs.create(cluster, actor, how),
    describe({ cluster: { controlPlane, pools } }, { name, k8sVersion, controlPlaneVersion, endpoint }) {
      const place = endpoint === undefined ? "of its first machine" : endpoint;
      return {
        changes: [
          `cluster ${name} will be created with the address ${place}`,
          `its control plane will have ${describeMachines(controlPlane)} with Kubernetes ${controlPlaneVersion}`,
          ...pools.map((pool) => describePool(pool, k8sVersion)),
        ],
      };
    },
  };
}

/** clusters.delete: marks a cluster for deletion. */
export function createDeleteCluster(
  specs: ClusterSpecs,
): StoredChange<DeleteClusterMsg, string, ChangedCluster> {
  return {
    kind: "clusters.delete",
    resourceOf: ({ name }) => clusterResource(name),
    parse({ name }) {
      assertClusterName(name, "name");
      return name;
    },
    apply: specs.remove,
    describe(name, cluster) {
      const { pools, controlPlane, isDeleting } = cluster;
      const facts = factsOfCluster(cluster);
      if (isDeleting) {
        return { changes: [`cluster ${name} is already being deleted`], facts };
      }
      const count = [controlPlane, ...pools].reduce((sum, each) => sum + each.count, 0);
      return {
        changes: [`cluster ${name} will be deleted and its machines released to MAAS`],
        losses: [`all data on the disks of ${count} machines, and all keys of the cluster`],
        facts,
      };
    },
  };
}

interface UpgradeSpec {
  readonly name: string;
  readonly version: KubernetesVersion;
}

/** clusters.upgrade: sets another version of Kubernetes. */
export function createUpgradeCluster(
  specs: ClusterSpecs,
): StoredChange<UpgradeClusterMsg, UpgradeSpec, UpgradedCluster> {
  return {
    kind: "clusters.upgrade",
    resourceOf: ({ name }) => clusterResource(name),
    parse({ name, version }) {
      assertClusterName(name, "name");
      return { name, version: parseKubernetesVersion(version, "version") };
    },
    apply: ({ name, version }, how) => specs.upgrade(name, version, how),
    describe: ({ version }, { cluster, controlPlaneVersion }) => ({
      changes: [
        `the control plane will have Kubernetes ${controlPlaneVersion} (now ${cluster.controlPlaneVersion})`,
        `the node pools will have Kubernetes ${formatKubernetesVersion(version)} (now ${cluster.k8sVersion})`,
        "machines are replaced one at a time: a new one is installed, the old one is drained and released",
      ],
      losses: ["all data on the disks of the replaced machines"],
      facts: factsOfCluster(cluster),
    }),
  };
}
