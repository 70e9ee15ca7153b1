import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CephState } from "../../../../adapters/ceph/adapter.ts";
import type { Part } from "../../../../adapters/host/part-of-state.ts";
import type { ClusterRadarSchema } from "../../../../gen/resources/stats/stats_pb.ts";
import type { MissingPart } from "../figures/figure-notes.ts";
import { capacityAvailable } from "./capacity.ts";
import { clusterHealth } from "./cluster-health.ts";
import { type NodesToScore, nodesHealth } from "./nodes-health.ts";
import { reliability } from "./reliability.ts";
import type { Score } from "./score.ts";
import { stability } from "./stability.ts";
import type { SeenHour } from "./stability-history.ts";

export interface RadarInput {
  readonly state: CephState;
  readonly nodes: Part<NodesToScore>;
  readonly hour: SeenHour;
  readonly nowMs: number;
}

/** The five scores and their reasons, by field name. */
export interface ClusterRadar {
  readonly message: MessageInitShape<typeof ClusterRadarSchema>;
  readonly because: Readonly<Record<string, readonly string[]>>;
}

/** The radar, or the scores that cannot be computed, and why. */
export type RadarReading = { readonly ok: ClusterRadar } | { readonly missing: readonly MissingPart[] };

/** Computes all five scores or none, since an unset score would read as the worst. Definitions: docs/reference/domains/stats.md. */
export function radarFrom(input: RadarInput): RadarReading {
  const { state, nodes, hour, nowMs } = input;
  const missing: MissingPart[] = [];
  const scoreOf = (field: string, part: Part<Score>): Score => {
    if ("missing" in part) {
      missing.push({ field, reason: part.missing });
      return { value: 0, because: [] };
    }
    return part.ok;
  };
  const { pools, mons, mgrs, scrubs, crashes, osds, pgs, usage } = state;
  const scores = {
    cluster_health: clusterHealth(state.health.checks),
    nodes_health: scoreOf("nodes_health", then(nodes, nodesHealth)),
    capacity_available: scoreOf("capacity_available", then(usage, capacityAvailable)),
    // Without OSDs and PGs nothing is known about the current state.
    stability: scoreOf(
      "stability",
      then(crashes, (known) => then(osds, () => then(pgs, () => ({ ok: stability(hour, known, nowMs) })))),
    ),
    reliability: scoreOf(
      "reliability",
      then(pools, (ofPools) =>
        then(mons, (ofMons) =>
          then(mgrs, (ofMgrs) =>
            then(scrubs, (ofScrubs) => ({
              ok: reliability({ pools: ofPools, mons: ofMons, mgrs: ofMgrs, scrubs: ofScrubs }, nowMs),
            })),
          ),
        ),
      ),
    ),
  };
  if (missing.length > 0) {
    return { missing };
  }
  return {
    ok: {
      message: {
        clusterHealth: roundScore(scores.cluster_health.value),
        nodesHealth: roundScore(scores.nodes_health.value),
        capacityAvailable: roundScore(scores.capacity_available.value),
        stability: roundScore(scores.stability.value),
        reliability: roundScore(scores.reliability.value),
      },
      because: Object.fromEntries(Object.entries(scores).map(([field, { because }]) => [field, because])),
    },
  };
}

/** Rounds to one decimal, as the original server did; the dial of its dashboard clips longer numbers. */
function roundScore(value: number): number {
  return Math.round(value * 10) / 10;
}

function then<T, U>(part: Part<T>, next: (value: T) => Part<U>): Part<U> {
  return "ok" in part ? next(part.ok) : part;
}
