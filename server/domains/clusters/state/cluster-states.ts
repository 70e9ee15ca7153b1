import { isDeepStrictEqual } from "node:util";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createSnapshotCache } from "../../../../adapters/host/snapshot.ts";
import type { ClusterStateSchema } from "../../../../gen/hostplane/v1/cluster_pb.ts";
import type { Store } from "../../../store/store.ts";
import { clusterStateMessage } from "./cluster-messages.ts";
import { withOtherMaasMessage } from "./find-cluster.ts";

/** Messages about clusters, by name and in name order. */
export type ClusterMessages = ReadonlyMap<string, MessageInitShape<typeof ClusterStateSchema>>;

/** States of all clusters, read and converted once for all watchers. */
export interface ClusterStates {
  /** Returns the current states. A cluster whose message has not changed keeps the same object. */
  read(signal: AbortSignal): Promise<ClusterMessages>;
  /**
   * Calls back after changes, at most once every 100 ms, or every second when there are more than 100 clusters. Returns a
   * function that unsubscribes.
   */
  subscribe(onChange: () => void): () => void;
}

const tickMs = 100;
/** Every change causes all clusters to be read. */
const tickOfManyMs = 1_000;
const many = 100;

/** Creates the shared states. @param maasUrl of the MAAS that the gateway uses */
export function createClusterStates(store: Pick<Store, "run" | "subscribe">, maasUrl: string): ClusterStates {
  let messages: ClusterMessages = new Map();
  const cache = createSnapshotCache({
    system: "clusters",
    load: async () => {
      const states = await store.run("clusters.states", {});
      messages = new Map(
        states.map(({ cluster, slots }) => {
          const { name } = cluster;
          const message = clusterStateMessage({ cluster: withOtherMaasMessage(cluster, maasUrl), slots });
          const before = messages.get(name);
          return [name, before !== undefined && isDeepStrictEqual(message, before) ? before : message];
        }),
      );
      return messages;
    },
    equal: (a, b) => a.size === b.size && [...b].every(([name, message]) => a.get(name) === message),
  });
  let watchers = 0;
  let leaveStore = () => {};
  let tick: NodeJS.Timeout | undefined;

  function onCommit(): void {
    if (tick === undefined) {
      const end = () => {
        tick = undefined;
        cache.invalidate();
      };
      tick = setTimeout(end, messages.size > many ? tickOfManyMs : tickMs).unref();
    }
  }

  return {
    async read(signal) {
      if (watchers === 0) {
        // Nothing reports changes then.
        cache.invalidate();
      }
      return (await cache.read(signal)).value;
    },
    subscribe(onChange) {
      if (watchers === 0) {
        leaveStore = store.subscribe("clusters", onCommit);
      }
      watchers += 1;
      // Changes committed while there were no watchers, or within this tick, are missing from the last snapshot.
      cache.invalidate();
      const leaveCache = cache.subscribe(onChange);
      return () => {
        leaveCache();
        watchers -= 1;
        if (watchers === 0) {
          leaveStore();
        }
      };
    },
  };
}
