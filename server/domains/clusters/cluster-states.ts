import { isDeepStrictEqual } from "node:util";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createSnapshotCache } from "../../../adapters/host/snapshot.ts";
import type { ClusterStateSchema } from "../../../gen/hostplane/v1/cluster_pb.ts";
import type { Store } from "../../store/store.ts";
import { clusterStateMessage } from "./cluster-messages.ts";
import { toldOfMaas } from "./find-cluster.ts";

/** What is told of clusters, by name and in that order. */
export type ToldClusters = ReadonlyMap<string, MessageInitShape<typeof ClusterStateSchema>>;

/** All clusters, read and put into words once for all who watch them. */
export interface ClusterStates {
  /** As they are now. Of a cluster of which nothing else is to be told than before it is the same object. */
  read(signal: AbortSignal): Promise<ToldClusters>;
  /** Calls back after changes, those of 100 ms together, or of a second when there are more than 100 clusters. Returns the function that ends it. */
  subscribe(onChange: () => void): () => void;
}

const tickMs = 100;
/** All of them are read for a change of one. */
const tickOfManyMs = 1_000;
const many = 100;

/** @param maasUrl of the MAAS that the gateway works with */
export function createClusterStates(store: Pick<Store, "run" | "subscribe">, maasUrl: string): ClusterStates {
  let told: ToldClusters = new Map();
  const cache = createSnapshotCache({
    system: "clusters",
    load: async () => {
      const states = await store.run("clusters.states", {});
      told = new Map(
        states.map(({ cluster, slots }) => {
          const { name } = cluster;
          const message = clusterStateMessage({ cluster: toldOfMaas(cluster, maasUrl), slots });
          const before = told.get(name);
          return [name, before !== undefined && isDeepStrictEqual(message, before) ? before : message];
        }),
      );
      return told;
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
      tick = setTimeout(end, told.size > many ? tickOfManyMs : tickMs).unref();
    }
  }

  return {
    async read(signal) {
      return (await cache.read(signal)).value;
    },
    subscribe(onChange) {
      if (watchers === 0) {
        leaveStore = store.subscribe("clusters", onCommit);
      }
      watchers += 1;
      // What was committed while nobody watched, or in this tick, is not in what was read.
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
