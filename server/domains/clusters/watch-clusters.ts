import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { WatchClustersResponseSchema } from "../../../gen/hostplane/v1/cluster_pb.ts";
import { watchState } from "../../rpc/streams/watch-state.ts";
import type { ClusterStates, ToldClusters } from "./cluster-states.ts";

/**
 * Streams clusters as they change: first all of them, then those whose message has changed and the names of removed ones.
 * @param names of the clusters to stream; empty for all
 * @param signal ends the stream
 */
export async function* watchClusters(
  states: ClusterStates,
  names: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<MessageInitShape<typeof WatchClustersResponseSchema>, void> {
  const wanted = new Set(names);
  let told: ToldClusters | undefined;
  for await (const all of watchState(states.subscribe, () => states.read(signal), signal)) {
    const now = new Map([...all].filter(([name]) => wanted.size === 0 || wanted.has(name)));
    const clusters = [...now].flatMap(([name, message]) => (message === told?.get(name) ? [] : [message]));
    const removed = [...(told?.keys() ?? [])].filter((name) => !now.has(name));
    if (told === undefined || clusters.length > 0 || removed.length > 0) {
      yield { clusters, removed, readAt: timestampFromMs(Date.now()) };
    }
    told = now;
  }
}
