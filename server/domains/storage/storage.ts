import type { CephAdapter, CephReader, CephSnapshot, CephState } from "../../../adapters/ceph/adapter.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Part } from "../../../adapters/host/part-of-state.ts";
import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type {
  KubernetesAdapter,
  KubernetesSnapshot,
  KubernetesState,
} from "../../../adapters/kubernetes/adapter.ts";
import { storageNodeStatuses, whyNotTold } from "./cluster-nodes.ts";
import { type RadarReading, radarFrom } from "./radar/cluster-radar.ts";
import { createStabilityHistory } from "./radar/stability-history.ts";

export interface StorageOptions {
  /** Undefined where none is configured. */
  readonly ceph: CephAdapter | undefined;
  readonly kubernetes: KubernetesAdapter | undefined;
}

/** Something that was read, and the states that it comes of. */
export type FromSnapshots<T> = T & { readonly snapshots: readonly Snapshot<object>[] };

/** The states that nodes are told of, as `clusterNodesFrom` takes them. */
export interface NodeStates {
  /** Undefined where there is none. */
  readonly kubernetes: Part<KubernetesState> | undefined;
  /** Undefined where Kubernetes tells enough, or there is none. */
  readonly ceph: CephState | undefined;
}

/** What the services read the storage cluster by. */
export interface Storage {
  /** @throws InfraError DOMAIN_OFF where there is no Ceph, and as `CephAdapter.read` */
  readCeph(signal: AbortSignal): Promise<CephSnapshot>;
  /** The radar of that state. */
  radarOf(
    snapshot: CephSnapshot,
    signal: AbortSignal,
  ): Promise<FromSnapshots<{ readonly radar: RadarReading }>>;
  /**
   * @param what is asked of it, as a sentence that says that Kubernetes alone tells it
   * @throws InfraError DOMAIN_OFF with that sentence where there is no Kubernetes, and as `KubernetesAdapter.read`
   */
  readKubernetes(what: string, signal: AbortSignal): Promise<KubernetesSnapshot>;
  /** @throws InfraError as reading what it takes */
  readNodes(signal: AbortSignal): Promise<FromSnapshots<NodeStates>>;
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
    async readKubernetes(what, signal) {
      if (kubernetes === undefined) {
        throw new InfraError("DOMAIN_OFF", `${what}: set \`storage.kubernetes\` in the configuration`);
      }
      return kubernetes.read(signal);
    },
    async readNodes(signal) {
      const carrier = await tryKubernetes(signal);
      const state = carrier && stateOf(carrier);
      const isEnough = state !== undefined && whyNotTold(state) === undefined;
      const ofCeph = isEnough ? undefined : await ceph?.read(signal);
      const snapshots = [...snapshotsOf(carrier), ...[ofCeph ?? []].flat()];
      return { kubernetes: state, ceph: ofCeph?.value, snapshots };
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
