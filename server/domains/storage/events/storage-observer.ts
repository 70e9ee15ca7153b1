import { setTimeout as sleep } from "node:timers/promises";
import type { CephAdapter, CephReader, CephSnapshot, CephState } from "../../../../adapters/ceph/adapter.ts";
import { cephReasons } from "../../../../adapters/ceph/reasons.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import {
  observeSystem,
  type SystemObserver,
  type SystemObserverOptions,
} from "../../../events/observe-system.ts";
import type { ObservedSystem } from "../../../events/observed-system.ts";
import { clusterChanges, services, unreachableChanges } from "./cluster-changes.ts";
import { type ObservedCluster, parseObservedCluster } from "./observed-cluster.ts";

/** Options of `observeStorageChanges`. */
export interface StorageObserverOptions extends SystemObserverOptions {
  readonly ceph: Pick<CephAdapter, "kind" | "read" | "subscribe">;
}

/** Interval for polling until a sufficiently new state is available. */
const pollMs = 100;

/** The observer is notified of each refresh, and requests one only if it has to wait for a newer state. */
const passive = { isWatching: false };

/** Returns the name under which the store keeps the cluster's state, the same for all gateways that share the store. */
function cephSource({ kind }: Pick<CephAdapter, "kind">): string {
  return kind === "sandbox" ? "sandbox-ceph" : "ceph";
}

/**
 * Publishes changes of a Ceph cluster as events, as soon as a refresh shows them. If the cluster can no longer be read, an
 * event reports that, with the time of the last read. Once it can be read again, events report what changed and that changes
 * may have been missed.
 */
export function observeStorageChanges(options: StorageObserverOptions): SystemObserver {
  const { ceph } = options;
  let lastReadAt: Date | undefined;
  const noteRead = ({ readAtMs }: CephSnapshot) => {
    lastReadAt = new Date(Date.now() - (performance.now() - readAtMs));
  };
  const system: ObservedSystem<CephState, ObservedCluster> = {
    source: cephSource(ceph),
    name: "Ceph",
    subscribe: (onChange) => ceph.subscribe(onChange, passive),
    async read(sinceMs, signal) {
      let snapshot = await readFresh(ceph, signal, noteRead, passive);
      while (snapshot.readAtMs < sinceMs) {
        await sleep(pollMs, undefined, { signal });
        snapshot = await readFresh(ceph, signal, noteRead);
      }
      return snapshot;
    },
    parse: parseObservedCluster,
    changes: clusterChanges,
    changesWhenUnreadable(before, error) {
      if (before === undefined || !(error instanceof InfraError)) {
        return undefined;
      }
      const since = lastReadAt === undefined ? "" : `; it was last read at ${lastReadAt.toISOString()}`;
      return unreachableChanges(before, `${error.message}${since}`);
    },
    gapOrigin: { topic: "storage", resource: "cephClusters", host: "", services },
  };
  return observeSystem(system, options);
}

/** @throws InfraError CEPH_UNAVAILABLE, even if only the refresh failed and the cached state is still recent */
async function readFresh(
  ceph: StorageObserverOptions["ceph"],
  signal: AbortSignal,
  noteRead: (snapshot: CephSnapshot) => void,
  reader?: CephReader,
): Promise<CephSnapshot> {
  const snapshot = await ceph.read(signal, reader);
  noteRead(snapshot);
  if (snapshot.staleBecause !== undefined) {
    throw new InfraError(cephReasons.CEPH_UNAVAILABLE, snapshot.staleBecause);
  }
  return snapshot;
}
