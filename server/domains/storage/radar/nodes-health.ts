import type { Part } from "../../../../adapters/host/part-of-state.ts";
import { type Score, scoreOfShare } from "./score.ts";

/** The storage nodes, and why it is Ceph that tells of them where Kubernetes should. */
export interface NodesToScore {
  readonly nodes: readonly { readonly isReady: boolean }[];
  readonly standInBecause: string | undefined;
}

/** The share of the storage nodes that are ready; of none there is no share. */
export function nodesHealth({ nodes, standInBecause }: NodesToScore): Part<Score> {
  if (nodes.length === 0) {
    return { missing: "no node is known that carries the cluster" };
  }
  const readyCount = nodes.filter(({ isReady }) => isReady).length;
  const source = standInBecause === undefined ? "" : ` by Ceph (${standInBecause})`;
  return { ok: scoreOfShare(readyCount / nodes.length, `${readyCount} of ${nodes.length} ready${source}`) };
}
