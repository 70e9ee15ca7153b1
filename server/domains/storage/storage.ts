import type { CephAdapter, CephReader, CephSnapshot, CephState } from "../../../adapters/ceph/adapter.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Part } from "../../../adapters/host/part-of-state.ts";
import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type {
  KubernetesAdapter,
  KubernetesSnapshot,
  KubernetesState,
} from "../../../adapters/kubernetes/adapter.ts";
import { domainReasons } from "../../domain/reasons.ts";
import { storageNodeStatuses, whyUnavailable } from "./kubernetes/cluster-nodes.ts";
import { type RadarReading, radarFrom } from "./radar/cluster-radar.ts";
import { createStabilityHistory } from "./radar/stability-history.ts";

export interface StorageOptions {
  /** Undefined if it is not configured. */
  readonly ceph: CephAdapter | undefined;
  readonly kubernetes: KubernetesAdapter | undefined;
}

/** A result with the snapshots that it is based on. */
export type FromSnapshots<T> = T & { readonly snapshots: readonly Snapshot<object>[] };

/** The states that nodes are read from, as input of `clusterNodesFrom`. */
export interface NodeStates {
  /** Undefined if it is not configured. */
  readonly kubernetes: Part<KubernetesState> | undefined;
  /** Undefined if Kubernetes provides the nodes, or if Ceph is not configured. */
  readonly ceph: CephState | undefined;
}

/** Access to the storage cluster for the services. */
export interface Storage {
  /** @throws InfraError DOMAIN_OFF if Ceph is not configured, and as `CephAdapter.read` */
  readCeph(signal: AbortSignal): Promise<CephSnapshot>;
  /** Computes the radar of that state. */
  radarOf(
    snapshot: CephSnapshot,
    signal: AbortSignal,
  ): Promise<FromSnapshots<{ readonly radar: RadarReading }>>;
  /**
   * @param what sentence which says that only Kubernetes provides the requested data
   * @throws InfraError DOMAIN_OFF with that sentence if Kubernetes is not configured, and as `KubernetesAdapter.read`
   */
  readKubernetes(what: string, signal: AbortSignal): Promise<KubernetesSnapshot>;
  /** @throws InfraError as the reads that it needs */
  readNodes(signal: AbortSignal): Promise<FromSnapshots<NodeStates>>;
  /** Calls back when an answer may have changed. */
  subscribe(onChange: () => void): () => void;
  /** Begins to record the history of the last hour for the radar. */
  beginHistory(): { close(): Promise<void> };
}

/** Creates the access without reading anything. @param options at least one of the two systems is configured */
export function createStorage({ ceph, kubernetes }: StorageOptions): Storage {
  const history = createStabilityHistory();
  // Recording the history does not make the cluster be read more often.
  const asHistorian: CephReader = { isWatching: false };

  async function note(): Promise<void> {
    try {
      const snapshot = await ceph?.read(undefined, asHistorian);
      if (snapshot !== undefined) {
        history.note(snapshot);
      }
    } catch {
      // Nothing is recorded while the cluster cannot be read; calls report the reason.
    }
  }

  /** Reads Kubernetes. An error is returned as missing if Ceph is configured as a substitute; undefined without Kubernetes. */
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
        throw new InfraError(
          domainReasons.DOMAIN_OFF,
          `${what}: set \`storage.kubernetes\` in the configuration`,
        );
      }
      return kubernetes.read(signal);
    },
    async readNodes(signal) {
      const carrier = await tryKubernetes(signal);
      const state = carrier && stateOf(carrier);
      const isEnough = state !== undefined && whyUnavailable(state) === undefined;
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

/** The error of RPCs that need Ceph where only Kubernetes is configured. */
export function cephOff(): InfraError {
  return new InfraError(
    domainReasons.DOMAIN_OFF,
    "no Ceph cluster is configured: set `storage.ceph` in the configuration",
  );
}
