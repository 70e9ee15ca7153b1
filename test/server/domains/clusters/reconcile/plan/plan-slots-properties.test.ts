import fc from "fast-check";
import { test } from "tap";
import { clusterStatusOf } from "../../../../../../server/domains/clusters/reconcile/plan/cluster-status.ts";
import { isServing } from "../../../../../../server/domains/clusters/reconcile/plan/cluster-view.ts";
import type { SlotPlan } from "../../../../../../server/domains/clusters/reconcile/plan/plan-slots.ts";
import { isOfPool } from "../../../../../../server/domains/clusters/reconcile/plan/slot-group.ts";
import type { ClusterRecord, PoolRecord } from "../../../../../../server/domains/clusters/store/records.ts";
import { clusterOf } from "./sample-cluster.ts";
import {
  type Chance,
  createSimulatedCluster,
  desiredCount,
  liveOf,
  type SimulatedCluster,
} from "./simulated-cluster.ts";

const instanceType = fc.constantFrom("standard", "gpu");
const pool = fc.record({
  name: fc.constantFrom("a", "b", "c"),
  instanceType,
  labels: fc.constantFrom([], [{ name: "disk", value: "ssd" }]),
  count: fc.integer({ min: 1, max: 4 }),
});
const pools = fc.uniqueArray(pool, { maxLength: 3, selector: ({ name }) => name });
const change = fc.oneof(
  fc.record({ kind: fc.constant("pools" as const), pools }),
  fc.record({ kind: fc.constant("scale" as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant("upgrade" as const) }),
);
const course = fc.record({
  servers: fc.constantFrom(1, 3, 5),
  pools,
  /** The requested changes, and after how many passes. */
  changes: fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), change), { maxLength: 4 }),
  spare: fc.integer({ min: 0, max: 2 }),
  seed: fc.integer(),
});

type Course = typeof course extends fc.Arbitrary<infer T> ? T : never;

const calmPasses = 400;

test("a cluster reaches its spec, whatever happens to it", async (t) => {
  let upgrades = 0;
  fc.assert(
    fc.property(course, (value) => {
      const simulated = afterTrouble(value);
      upgrades += simulated.cluster.k8sVersion === "1.35.9" ? 0 : 1;
      simulated.step(true);
      for (let pass = 0; pass < calmPasses && !isDone(simulated); pass += 1) {
        passAndCheck(simulated);
        simulated.step(true);
      }
      const { cluster } = simulated;
      const slots = simulated.slots();
      for (const { name, count } of cluster.pools) {
        const live = liveOf(slots, name);
        expectSame(
          live.map(({ k8sVersion }) => k8sVersion),
          Array(count).fill(cluster.k8sVersion),
        );
      }
      const servers = liveOf(slots, undefined).map(({ k8sVersion }) => k8sVersion);
      expectSame(servers, Array(cluster.controlPlane.count).fill(cluster.controlPlaneVersion));
      expectSame(slots.length, desiredCount(cluster, "standard") + desiredCount(cluster, "gpu"));
      const status = clusterStatusOf(cluster, slots, simulated.view());
      expectSame(status, { status: "running", message: "", isSettled: true, isCalm: true });
      // A settled state is stable.
      simulated.pass((plan) => expectSame(plan, { add: [], leave: [] }));
    }),
    { numRuns: 300 },
  );
  t.ok(upgrades > 50, "upgrades are among them");
});

test("a cluster that is deleted at any time ends without machines", async () => {
  fc.assert(
    fc.property(course, (value) => {
      const simulated = afterTrouble(value);
      simulated.cluster = { ...simulated.cluster, isDeleting: true };
      for (let pass = 0; pass < calmPasses && simulated.slots().length > 0; pass += 1) {
        simulated.pass(({ add }) => expectSame(add, []));
        simulated.step(true);
      }
      expectSame(simulated.slots(), []);
    }),
    { numRuns: 50 },
  );
});

function afterTrouble({ servers, pools, changes, spare, seed }: Course): SimulatedCluster {
  const simulated = createSimulatedCluster(
    clusterOf({
      hasRun: false,
      k8sVersion: "1.35.9",
      controlPlaneVersion: "1.35.9",
      controlPlane: { instanceType: "standard", labels: [], count: servers },
      pools,
    }),
    chanceFrom(seed),
  );
  for (let pass = 0; pass < 60; pass += 1) {
    for (const [, each] of changes.filter(([after]) => after * 3 === pass)) {
      simulated.cluster = changed(simulated.cluster, each);
    }
    stock(simulated, spare);
    passAndCheck(simulated);
    simulated.step(false);
  }
  return simulated;
}

/** Limits the free machines to the given number, but leaves one for upgrading a control plane of one machine. */
function stock(simulated: SimulatedCluster, spare: number): void {
  const { cluster } = simulated;
  const least = cluster.controlPlane.count === 1 ? 1 : 0;
  simulated.setMachines("standard", desiredCount(cluster, "standard") + Math.max(spare, least));
  simulated.setMachines("gpu", desiredCount(cluster, "gpu") + spare);
}

function changed(
  cluster: ClusterRecord,
  value: typeof change extends fc.Arbitrary<infer T> ? T : never,
): ClusterRecord {
  if (value.kind === "upgrade") {
    return { ...cluster, k8sVersion: "1.36.3", controlPlaneVersion: "1.36.3" };
  }
  const scaled = (each: PoolRecord) => ({
    ...each,
    count: value.kind === "scale" ? value.count : each.count,
  });
  return { ...cluster, pools: value.kind === "pools" ? value.pools : cluster.pools.map(scaled) };
}

function passAndCheck(simulated: SimulatedCluster): void {
  simulated.pass((plan) => assertHarmless(simulated, plan));
  const status = clusterStatusOf(simulated.cluster, simulated.slots(), simulated.view());
  expectSame(status.message.length <= 500, true);
  if (status.isSettled) {
    simulated.cluster = { ...simulated.cluster, hasRun: true };
  }
}

/** Checks invariants of every plan. */
function assertHarmless(simulated: SimulatedCluster, { add, leave }: SlotPlan): void {
  const { cluster } = simulated;
  const [slots, view] = [simulated.slots(), simulated.view()];
  const leaving = (uid: string) => leave.find((each) => each.uid === uid);
  const groups = [
    { count: cluster.controlPlane.count, name: undefined, live: liveOf(slots, undefined) },
    ...cluster.pools.map((each) => {
      const live = liveOf(slots, each.name).filter((slot) => isOfPool(slot, each));
      return { count: each.count, name: each.name, live };
    }),
  ];
  for (const { name, count, live } of groups) {
    const added = add.filter((slot) => slot.pool === name).length;
    const left = live.filter(({ uid }) => leaving(uid) === undefined).length;
    expectSame(added === 0 || left + added <= count + 1, true, "too many are added");
    const serving = live.filter((slot) => isServing(slot, view));
    const kept = serving.filter(({ uid }) => leaving(uid) === undefined).length;
    expectSame(kept >= Math.min(count - 1, serving.length), true, "too many are removed");
  }
  for (const { uid, from, to } of leave) {
    const slot = slots.find((each) => each.uid === uid);
    expectSame(slot?.state, from);
    expectSame(from === "joined" && to !== "draining", false, "a node is removed without being drained");
    expectSame(from !== "wanted" && to === "released", false, "a machine is not released");
    const isRemoved = slot?.pool !== undefined && !cluster.pools.some((each) => isOfPool(slot, each));
    if (from === "joined" && view.api?.isReachable !== true && !isRemoved) {
      throw new Error("a node whose state is unknown is removed");
    }
  }
  const servers = liveOf(slots, undefined);
  const goers = servers.filter(({ uid, state }) => state === "joined" && leaving(uid) !== undefined);
  const others = servers.filter(({ uid, state }) => state === "joined" && leaving(uid) === undefined);
  const serving = others.filter((slot) => isServing(slot, view)).length;
  if (goers.length > 0) {
    expectSame(
      [goers.length, serving * 2 > others.length],
      [1, true],
      "the control plane loses its majority",
    );
    expectSame(serving >= cluster.controlPlane.count - 1, true, "the control plane becomes too small");
  }
}

function isDone(simulated: SimulatedCluster): boolean {
  return clusterStatusOf(simulated.cluster, simulated.slots(), simulated.view()).status === "running";
}

function expectSame(found: unknown, expected: unknown, what = ""): void {
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    throw new Error(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
  }
}

/** Returns a deterministic random number generator (mulberry32). */
function chanceFrom(seed: number): Chance {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
