import type { CephAdapter, CephReader, CephSnapshot } from "../../../adapters/ceph/adapter.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Part } from "../../../adapters/host/part-of-state.ts";
import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type {
  KubernetesAdapter,
  KubernetesSnapshot,
  KubernetesState,
} from "../../../adapters/kubernetes/adapter.ts";
import { type ClusterNodes, clusterNodesFrom, storageNodeStatuses, whyNotTold } from "./cluster-nodes.ts";
import { type ClusterResources, clusterResourcesFrom } from "./cluster-resources.ts";
import { type KoorClusterReading, koorClusterFrom } from "./koor-cluster.ts";
import { type RadarReading, radarFrom } from "./radar/cluster-radar.ts";
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

  /** Kubernetes as far as Ceph can stand in for it; undefined where there is none. */
  async function tryKubernetes(signal: AbortSignal): Promise<Part<KubernetesSnapshot> | undefined> {
    try {
      const snapshot = await kubernetes?.read(signal);
      return snapshot && { ok: snapshot };
    } catch (error) {
      if (ceph === undefined || signal.aborted || !(error instanceof InfraError)) {
        throw error;
      }
      return { missing: error.message };
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
      const carrier = await tryKubernetes(signal);
      const nodes = storageNodeStatuses(carrier && stateOf(carrier), snapshot.value);
      const nowMs = Date.now();
      const radar = radarFrom({ state: snapshot.value, nodes, hour: history.lastHour(nowMs), nowMs });
      return { radar, snapshots: [snapshot, ...snapshotsOf(carrier)] };
    },
    async readNodes(signal) {
      const carrier = await tryKubernetes(signal);
      const state = carrier && stateOf(carrier);
      const isEnough = state !== undefined && whyNotTold(state) === undefined;
      const ofCeph = isEnough ? undefined : await ceph?.read(signal);
      const nodes = clusterNodesFrom(state, ofCeph?.value);
      return { ...nodes, snapshots: [...snapshotsOf(carrier), ...[ofCeph ?? []].flat()] };
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

function stateOf(carrier: Part<KubernetesSnapshot>): Part<KubernetesState> {
  return "ok" in carrier ? { ok: carrier.ok.value } : carrier;
}

function snapshotsOf(carrier: Part<KubernetesSnapshot> | undefined): readonly KubernetesSnapshot[] {
  return carrier !== undefined && "ok" in carrier ? [carrier.ok] : [];
}

export function cephOff(): InfraError {
  return new InfraError("DOMAIN_OFF", "there is no Ceph cluster: set `storage.ceph` in the configuration");
}
