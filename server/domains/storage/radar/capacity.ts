import type { CephState } from "../../../../adapters/ceph/adapter.ts";
import { roundSize } from "../../../../adapters/host/describe-size.ts";
import type { Part } from "../../../../adapters/host/part-of-state.ts";
import { type Score, scoreOfShare } from "./score.ts";

type Usage = Extract<CephState["usage"], { ok: unknown }>["ok"];

/** Scores the free share of the raw space; missing if the cluster has no space yet. */
export function capacityAvailable({ availableBytes, totalBytes }: Usage): Part<Score> {
  if (totalBytes === 0n) {
    return { missing: "the cluster has no space yet" };
  }
  const because = `${roundSize(availableBytes)} of ${roundSize(totalBytes)} free`;
  return { ok: scoreOfShare(Number(availableBytes) / Number(totalBytes), because) };
}
