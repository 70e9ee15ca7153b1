import fc from "fast-check";
import { test } from "tap";
import type { CephState } from "../../../../../adapters/ceph/adapter.ts";
import { sandboxState } from "../../../../../adapters/ceph/sandbox-cluster.ts";
import { capacityAvailable } from "../../../../../server/domains/storage/radar/capacity.ts";
import { type RadarInput, radarFrom } from "../../../../../server/domains/storage/radar/cluster-radar.ts";
import { nodesHealth } from "../../../../../server/domains/storage/radar/nodes-health.ts";

const nowMs = Date.parse("2026-11-21T12:00:00Z");

function byKubernetes(nodes: readonly { readonly isReady: boolean }[]) {
  return { ok: { nodes, standInBecause: undefined } };
}

function radarOf(change: Partial<CephState> = {}, more: Partial<RadarInput> = {}) {
  return radarFrom({
    state: { ...sandboxState(nowMs), ...change },
    nodes: byKubernetes([{ isReady: true }, { isReady: true }, { isReady: false }]),
    hour: { sinceMs: nowMs, flapCount: 0, slowOperationPeak: 0, recoveringSharePeak: 0 },
    nowMs,
    ...more,
  });
}

test("there are five scores with one decimal, and their reasons", async (t) => {
  const radar = radarOf();
  t.match(radar, {
    ok: {
      message: {
        clusterHealth: 100,
        nodesHealth: 66.7,
        capacityAvailable: 85.4,
        stability: 100,
        reliability: 100,
      },
      because: { nodes_health: ["2 of 3 ready"], cluster_health: [], reliability: [] },
    },
  });
});

test("without a part there is no radar, and the affected scores are listed", async (t) => {
  const needs: readonly [keyof CephState, string][] = [
    ["usage", "capacity_available"],
    ["crashes", "stability"],
    ["osds", "stability"],
    ["pgs", "stability"],
    ["pools", "reliability"],
    ["mons", "reliability"],
    ["mgrs", "reliability"],
    ["scrubs", "reliability"],
  ];
  for (const [part, field] of needs) {
    t.same(
      radarOf({ [part]: { missing: "not today" } }),
      { missing: [{ field, reason: "not today" }] },
      part,
    );
  }
  t.same(radarOf({}, { nodes: { missing: "not today" } }), {
    missing: [{ field: "nodes_health", reason: "not today" }],
  });
});

test("without nodes or space there is no share", async (t) => {
  t.match(radarOf({}, { nodes: byKubernetes([]) }), { missing: [{ field: "nodes_health" }] });
  const usage = { ok: { usedBytes: 0n, availableBytes: 0n, totalBytes: 0n } };
  t.match(radarOf({ usage }), { missing: [{ field: "capacity_available" }] });
});

const shareIn = (part: ReturnType<typeof nodesHealth>) => ("ok" in part ? part.ok.value : Number.NaN);

test("shares are bounded and monotonic", async () => {
  const bytes = fc.bigInt({ min: 0n, max: 1n << 60n });
  fc.assert(
    fc.property(bytes, bytes, bytes, (a, b, more) => {
      const totalBytes = (a > b ? a : b) + 1n;
      const shareOf = (availableBytes: bigint) =>
        shareIn(capacityAvailable({ usedBytes: 0n, availableBytes, totalBytes }));
      const [low, high] = [shareOf(a), shareOf(a + more)];
      return low >= 0 && high <= 100 && low <= high;
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1 }), (ready) => {
      const nodes = ready.map((isReady) => ({ isReady }));
      const value = shareIn(nodesHealth(byKubernetes(nodes).ok));
      const oneMore = shareIn(nodesHealth(byKubernetes([...nodes, { isReady: true }]).ok));
      const isShare = Math.abs(value - (100 * ready.filter(Boolean).length) / ready.length) < 1e-9;
      return isShare && oneMore >= value && value >= 0 && oneMore <= 100;
    }),
  );
});
