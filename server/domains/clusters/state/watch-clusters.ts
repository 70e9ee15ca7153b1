import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { WatchClustersResponseSchema } from "../../../../gen/hostplane/v1/cluster_pb.ts";
import { watchState } from "../../../rpc/streams/watch-state.ts";
import type { ClusterMessages, ClusterStates } from "./cluster-states.ts";

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
  const requested = new Set(names);
  let sent: ClusterMessages | undefined;
  for await (const all of watchState(states.subscribe, () => states.read(signal), signal)) {
    const now = new Map([...all].filter(([name]) => requested.size === 0 || requested.has(name)));
    const clusters = [...now].flatMap(([name, message]) => (message === sent?.get(name) ? [] : [message]));
    const removed = [...(sent?.keys() ?? [])].filter((name) => !now.has(name));
    if (sent === undefined || clusters.length > 0 || removed.length > 0) {
      yield { clusters, removed, readAt: timestampFromMs(Date.now()) };
    }
    sent = now;
  }
}
