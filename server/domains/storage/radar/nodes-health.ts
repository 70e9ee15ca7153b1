import type { Part } from "../../../../adapters/host/part-of-state.ts";
import { type Score, scoreOfShare } from "./score.ts";

/** The storage nodes, and why Ceph is their source instead of Kubernetes. */
export interface NodesToScore {
  readonly nodes: readonly { readonly isReady: boolean }[];
  readonly standInBecause: string | undefined;
}

/** Scores the share of the storage nodes that are ready; missing if there are no nodes. */
export function nodesHealth({ nodes, standInBecause }: NodesToScore): Part<Score> {
  if (nodes.length === 0) {
    return { missing: "no node of the cluster is known" };
  }
  const readyCount = nodes.filter(({ isReady }) => isReady).length;
  const source = standInBecause === undefined ? "" : ` by Ceph (${standInBecause})`;
  return { ok: scoreOfShare(readyCount / nodes.length, `${readyCount} of ${nodes.length} ready${source}`) };
}
