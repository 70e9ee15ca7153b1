import type { CephAdapter, CephReader, CephSnapshot } from "../../../adapters/ceph/adapter.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { cephHostStatuses } from "./ceph-hosts.ts";
import type { MissingPart } from "./figure-notes.ts";
import { type ClusterRadar, clusterRadarFrom } from "./radar/cluster-radar.ts";
import { createStabilityHistory } from "./radar/stability-history.ts";

export interface StorageOptions {
  /** Undefined where none is configured. */
  readonly ceph: CephAdapter | undefined;
}

/** The radar at a moment, or which of its scores cannot be told. */
export type RadarReading = { readonly ok: ClusterRadar } | { readonly missing: readonly MissingPart[] };

/** What the services read the storage cluster by. */
export interface Storage {
  /** @throws InfraError DOMAIN_OFF where there is no Ceph, and as `CephAdapter.read` */
  readCeph(signal: AbortSignal): Promise<CephSnapshot>;
  /** The radar of that state. */
  radarOf(snapshot: CephSnapshot): RadarReading;
  /** Calls back when an answer may have changed. */
  subscribe(onChange: () => void): () => void;
  /** Begins to look at what the radar tells of the last hour. */
  beginHistory(): { close(): Promise<void> };
}

export function createStorage({ ceph }: StorageOptions): Storage {
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

  return {
    async readCeph(signal) {
      if (ceph === undefined) {
        throw cephOff();
      }
      return ceph.read(signal);
    },
    radarOf(snapshot) {
      history.note(snapshot);
      const nowMs = Date.now();
      const hour = history.lastHour(nowMs);
      return clusterRadarFrom({
        state: snapshot.value,
        nodes: cephHostStatuses(snapshot.value),
        hour,
        nowMs,
      });
    },
    subscribe: (onChange) => ceph?.subscribe(onChange) ?? (() => {}),
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
