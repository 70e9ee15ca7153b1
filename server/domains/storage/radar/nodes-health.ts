import type { Part } from "../../../../adapters/host/part-of-state.ts";
import { type Score, scoreOfShare } from "./score.ts";

/** The share of the storage nodes that are ready; of none there is no share. */
export function nodesHealth(nodes: readonly { readonly isReady: boolean }[]): Part<Score> {
  if (nodes.length === 0) {
    return { missing: "no node is known that carries the cluster" };
  }
  const readyCount = nodes.filter(({ isReady }) => isReady).length;
  return { ok: scoreOfShare(readyCount / nodes.length, `${readyCount} of ${nodes.length} ready`) };
}
