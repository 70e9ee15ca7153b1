import type { CephAdapter, CephReader, CephSnapshot, CephState } from "../../../adapters/ceph/adapter.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type { KubernetesAdapter } from "../../../adapters/kubernetes/adapter.ts";
import { type ClusterNodes, clusterNodesFrom, storageNodeStatuses } from "./cluster-nodes.ts";
import { type ClusterResources, clusterResourcesFrom } from "./cluster-resources.ts";
import { type KoorClusterReading, koorClusterFrom } from "./koor-cluster.ts";
import { type RadarInput, type RadarReading, radarFrom } from "./radar/cluster-radar.ts";
import { createStabilityHistory } from "./radar/stability-history.ts";

export interface StorageOptions {
  /** Undefined where none is configured. */
  readonly ceph: CephAdapter | undefined;
  readonly kubernetes: KubernetesAdapter | undefined;
}

/** Something that was read, and the states that it comes of. */
export type FromSnapshots<T> = T & { readonly snapshots: readonly Snapshot<unknown>[] };

/** What the services read the storage cluster by. */
export interface Storage {
  /** @throws InfraError DOMAIN_OFF where there is no Ceph, and as `CephAdapter.read` */
  readCeph(signal: AbortSignal): Promise<CephSnapshot>;
  /** The radar of that state. */
  radarOf(
    snapshot: CephSnapshot,
    signal: AbortSignal,
  ): Promise<FromSnapshots<{ readonly radar: RadarReading }>>;
  /** @throws InfraError as `clusterNodesFrom`, and as reading what it takes */
  readNodes(signal: AbortSignal): Promise<FromSnapshots<ClusterNodes>>;
  /** @throws InfraError as `clusterResourcesFrom` and `KubernetesAdapter.read` */
  readResources(signal: AbortSignal): Promise<FromSnapshots<ClusterResources>>;
  /** @throws InfraError as `koorClusterFrom` and `KubernetesAdapter.read` */
  readKoorCluster(signal: AbortSignal): Promise<FromSnapshots<KoorClusterReading>>;
  /** Calls back when an answer may have changed. */
  subscribe(onChange: () => void): () => void;
  /** Begins to look at what the radar tells of the last hour. */
  beginHistory(): { close(): Promise<void> };
}

export function createStorage({ ceph, kubernetes }: StorageOptions): Storage {
  const history = createStabilityHistory();
  // It is nobody that watches, and has nothing read more often.
  const asHistorian: CephReader = { isWatching: false };

  async function note(): Promise<void> {
    try {
      const snapshot = await ceph?.read(undefined, asHistorian);
      if (snapshot !== undefined) {
        history.note(snapshot);
      }
    } catch {
      // While nothing can be read nothing is seen, and whoever asks is told why.
    }
  }

  /** Whether nodes are ready is for Kubernetes alone to say where there is one. */
  async function readNodeStatuses(
    state: CephState,
    signal: AbortSignal,
  ): Promise<FromSnapshots<{ readonly nodes: RadarInput["nodes"] }>> {
    try {
      const snapshot = await kubernetes?.read(signal);
      const nodes = storageNodeStatuses(snapshot?.value, state);
      return { nodes, snapshots: snapshot === undefined ? [] : [snapshot] };
    } catch (error) {
      if (signal.aborted || !(error instanceof InfraError)) {
        throw error;
      }
      return { nodes: { missing: `Kubernetes: ${error.message}` }, snapshots: [] };
    }
  }

  return {
    async readCeph(signal) {
      if (ceph === undefined) {
        throw cephOff();
      }
      return ceph.read(signal);
    },
    async radarOf(snapshot, signal) {
      history.note(snapshot);
      const { nodes, snapshots } = await readNodeStatuses(snapshot.value, signal);
      const nowMs = Date.now();
      const radar = radarFrom({ state: snapshot.value, nodes, hour: history.lastHour(nowMs), nowMs });
      return { radar, snapshots: [snapshot, ...snapshots] };
    },
    async readNodes(signal) {
      const ofKubernetes = await kubernetes?.read(signal);
      const isEnough = ofKubernetes !== undefined && "ok" in ofKubernetes.value.storagePods;
      const ofCeph = isEnough ? undefined : await ceph?.read(signal);
      const nodes = clusterNodesFrom(ofKubernetes?.value, ofCeph?.value);
      return { ...nodes, snapshots: [ofKubernetes ?? [], ofCeph ?? []].flat() };
    },
    async readResources(signal) {
      const snapshot = await kubernetes?.read(signal);
      return { ...clusterResourcesFrom(snapshot?.value), snapshots: [snapshot ?? []].flat() };
    },
    async readKoorCluster(signal) {
      const snapshot = await kubernetes?.read(signal);
      return { ...koorClusterFrom(snapshot?.value), snapshots: [snapshot ?? []].flat() };
    },
    subscribe(onChange) {
      const ends = [ceph?.subscribe(onChange), kubernetes?.subscribe(onChange)];
      return () => {
        for (const end of ends) {
          end?.();
        }
      };
    },
    beginHistory() {
      void note();
      const end = ceph?.subscribe(() => void note(), asHistorian);
      return { close: async () => end?.() };
    },
  };
}

export function cephOff(): InfraError {
  return new InfraError("DOMAIN_OFF", "there is no Ceph cluster: set `storage.ceph` in the configuration");
}
