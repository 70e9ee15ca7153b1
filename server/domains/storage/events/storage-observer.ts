import { setTimeout as sleep } from "node:timers/promises";
import type { CephAdapter, CephReader, CephSnapshot, CephState } from "../../../../adapters/ceph/adapter.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import {
  type ObservedSystem,
  observeSystem,
  type SystemObserver,
  type SystemObserverOptions,
} from "../../../events/observe-system.ts";
import { type ObservedCluster, parseObservedCluster } from "./observed-cluster.ts";
import { services, tellCluster, tellUnreachable } from "./tell-cluster.ts";

/** What `observeStorageChanges` needs. */
export interface StorageObserverOptions extends SystemObserverOptions {
  readonly ceph: Pick<CephAdapter, "kind" | "read" | "subscribe">;
}

/** How often it is looked whether a state that is new enough has come. */
const lookMs = 100;

/** It is told of each refresh, and asks for none but what it has to await. */
const passive = { isWatching: false };

/** What the store calls the cluster: gateways that share a store have the same. */
export function cephSource({ kind }: Pick<CephAdapter, "kind">): string {
  return kind === "sandbox" ? "sandbox-ceph" : "ceph";
}

/**
 * Tells each change of a Ceph cluster as events, as soon as a refresh shows it. When the cluster cannot be read any more,
 * that is an event with the time of the last read; once it can, what has changed, and that changes may have been missed.
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
        await sleep(lookMs, undefined, { signal });
        snapshot = await readFresh(ceph, signal, noteRead);
      }
      return snapshot;
    },
    parse: parseObservedCluster,
    tell: tellCluster,
    tellUnreadable(before, error) {
      if (before === undefined || !(error instanceof InfraError)) {
        return undefined;
      }
      const since = lastReadAt === undefined ? "" : `; it was last read at ${lastReadAt.toISOString()}`;
      return tellUnreachable(before, `${error.message}${since}`);
    },
    gapOrigin: { topic: "storage", resource: "cephClusters", host: "", services },
  };
  return observeSystem(system, options);
}

/** @throws InfraError CEPH_UNAVAILABLE also for a state that could not be refreshed, though it is not old yet */
async function readFresh(
  ceph: StorageObserverOptions["ceph"],
  signal: AbortSignal,
  noteRead: (snapshot: CephSnapshot) => void,
  reader?: CephReader,
): Promise<CephSnapshot> {
  const snapshot = await ceph.read(signal, reader);
  noteRead(snapshot);
  if (snapshot.staleBecause !== undefined) {
    throw new InfraError("CEPH_UNAVAILABLE", snapshot.staleBecause);
  }
  return snapshot;
}
