import type { MaasAdapter } from "../../../adapters/maas/adapter.ts";
import type { WorkloadAdapter } from "../../../adapters/workload/adapter.ts";
import type { Seal } from "../../crypto/seal.ts";
import type { Store } from "../../store/store.ts";
import { createKubeconfigs, type Kubeconfigs } from "./access/kubeconfigs.ts";
import type { ClusterImages } from "./specs/cluster-images.ts";
import type { ClusterSettings } from "./specs/cluster-settings.ts";
import { type ClusterSpecs, createClusterSpecs } from "./specs/cluster-specs.ts";
import { isUpgrading } from "./specs/pool-rules.ts";
import { typesOf, upgradesOf, versionsOf } from "./specs/upgrade-versions.ts";
import { type ClusterStates, createClusterStates } from "./state/cluster-states.ts";
import { clusterNotFound, findCluster, withOtherMaasMessage } from "./state/find-cluster.ts";
import { createNodeStatuses, type NodeStatuses } from "./state/node-statuses.ts";
import type { ClusterRecord, ClusterSummary, MachineEventRecord, SlotRecord } from "./store/records.ts";

export interface ClustersOptions {
  readonly store: Pick<Store, "run" | "subscribe">;
  readonly maas: Pick<MaasAdapter, "url" | "whoami" | "machines">;
  readonly workload: Pick<WorkloadAdapter, "connect">;
  readonly images: ClusterImages;
  /** `createSeal(masterKeys, "cluster")`. */
  readonly seal: Seal;
  readonly settings: ClusterSettings;
}

/** The specs of clusters and their last observed state. The reconciler carries out the changes written here. */
export interface Clusters {
  /** Lists the clusters by name, from the store only. */
  list(): Promise<readonly ClusterSummary[]>;
  readonly states: ClusterStates;
  readonly specs: ClusterSpecs;
  readonly kubeconfigs: Kubeconfigs;
  readonly nodes: NodeStatuses;
  /**
   * Returns the versions that `specs.upgrade` accepts now, oldest first.
   * @throws InfraError CLUSTER_NOT_FOUND, and as `ClusterImages.read`
   */
  upgrades(name: string): Promise<readonly string[]>;
  /**
   * Returns all slots of a cluster's machines, released ones included, and their events: the control plane's first, then by
   * pool, oldest first.
   * @throws InfraError CLUSTER_NOT_FOUND
   */
  machines(name: string): Promise<{
    readonly slots: readonly SlotRecord[];
    readonly events: readonly MachineEventRecord[];
  }>;
}

/** Puts together the parts of the domain that work on the store. None of them changes a machine. */
export function createClusters(options: ClustersOptions): Clusters {
  const { store, maas, workload, images, seal, settings } = options;
  return {
    async list() {
      const clusters = await store.run("clusters.list", {});
      return clusters.map((cluster) => withOtherMaasMessage(cluster, maas.url));
    },
    states: createClusterStates(store, maas.url),
    specs: createClusterSpecs({ store, images, seal, settings, maasUrl: maas.url }),
    kubeconfigs: createKubeconfigs({ store, seal, maasUrl: maas.url, hostOf: settings.kubeconfigHost }),
    nodes: createNodeStatuses({ store, maas, workload, seal }),
    async upgrades(name) {
      const found = await findCluster(store, name);
      const { cluster } = found;
      if (!isUpgradeable(cluster, maas.url) || isUpgrading(found)) {
        return [];
      }
      return upgradesOf(versionsOf(cluster), typesOf(cluster), await images.read());
    },
    async machines(name) {
      const found = await store.run("clusters.machines", { name });
      if (found === undefined) {
        throw clusterNotFound(name);
      }
      const { slots, events } = found;
      return { slots: slots.toSorted((a, b) => compareTexts(a.pool ?? "", b.pool ?? "")), events };
    },
  };
}

function isUpgradeable({ isDeleting, endpoint, backend }: ClusterRecord, maasUrl: string): boolean {
  return !isDeleting && endpoint !== undefined && backend === maasUrl;
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
