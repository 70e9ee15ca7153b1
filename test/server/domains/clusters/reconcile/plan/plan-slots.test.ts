import { test } from "tap";
import type { WorkloadNode } from "../../../../../../adapters/workload/adapter.ts";
import type { ClusterView } from "../../../../../../server/domains/clusters/reconcile/plan/cluster-view.ts";
import {
  planSlots,
  type SlotPlan,
} from "../../../../../../server/domains/clusters/reconcile/plan/plan-slots.ts";
import type {
  ClusterRecord,
  SlotRecord,
  SlotState,
} from "../../../../../../server/domains/clusters/store/records.ts";
import {
  clusterOf,
  newSlotOf,
  nodeFrom,
  nowMs,
  serverOf,
  slotOf,
  viewOf,
  wholeCluster,
} from "./sample-cluster.ts";

const unreachable = { isReachable: false, why: "connection refused", forMs: 90_000 } as const;
const nothing = { add: [], leave: [] };

function planned(cluster: ClusterRecord, slots: readonly SlotRecord[], view = viewOf(slots)): SlotPlan {
  let createdCount = 0;
  return planSlots(cluster, slots, view, () => `new${++createdCount}`);
}

/** Summarizes a plan: pools and versions that are added, and slots with their next state. */
function brief(plan: SlotPlan) {
  return {
    add: plan.add.map(({ pool = "", k8sVersion }) => `${pool} ${k8sVersion}`.trim()),
    leave: plan.leave.map(({ uid, to }) => `${uid} ${to}`),
  };
}

function nodesOf(
  slots: readonly SlotRecord[],
  changes: Readonly<Record<string, Partial<WorkloadNode>>> = {},
) {
  return new Map(slots.map((slot) => [slot.uid, nodeFrom(slot, changes[slot.uid])]));
}

const poolOf = (count: number, name = "web") => ({ name, instanceType: "standard", labels: [], count });

test("a new cluster gets all its machines at once", async (t) => {
  const labels = [{ name: "disk", value: "ssd" }];
  const gpus = { name: "ml", instanceType: "gpu", labels, count: 1 };
  const plan = planned(clusterOf({ hasRun: false, pools: [gpus] }), []);
  t.same(brief(plan), { add: ["1.36.3", "1.36.3", "1.36.3", "ml 1.36.3"], leave: [] });
  t.equal(new Set(plan.add.map(({ uid }) => uid)).size, 4);
  t.same(plan.add.at(-1), { uid: "new1", pool: "ml", instanceType: "gpu", labels, k8sVersion: "1.36.3" });
});

test("a cluster that matches its spec is left unchanged, whatever cannot be read", async (t) => {
  const slots = wholeCluster();
  for (const view of [
    viewOf(slots),
    viewOf(slots, { api: unreachable }),
    viewOf(slots, { unreadable: "down", images: undefined }),
    viewOf(slots, { nodes: { w1: { isReady: false }, cp1: { isReady: undefined } } }),
  ]) {
    t.same(planned(clusterOf(), slots, view), nothing);
  }
});

test("a machine that is removed is replaced at once", async (t) => {
  const slots = [...wholeCluster().slice(0, 4), slotOf("w2", { state: "releasing" })];
  t.same(brief(planned(clusterOf(), slots)), { add: ["web 1.36.3"], leave: [] });
});

test("each machine is removed in the way that its state requires", async (t) => {
  const ways: Partial<Record<SlotState, string>> = {
    wanted: "released",
    candidate: "releasing",
    allocated: "releasing",
    annotated: "releasing",
    deploying: "releasing",
    booted: "releasing",
    joined: "draining",
  };
  const servers = wholeCluster().slice(0, 3);
  for (const [state, way] of Object.entries(ways) as [SlotState, string][]) {
    const slots = [...servers, slotOf("w1", { state })];
    t.same(brief(planned(clusterOf({ pools: [] }), slots)).leave, [`w1 ${way}`], state);
  }
  for (const state of ["draining", "releasing"] as const) {
    t.same(planned(clusterOf({ pools: [] }), [...servers, slotOf("w1", { state })]), nothing, state);
  }
});

test("all machines of a deleted pool are removed, also when nodes cannot be read, and those of a former pool of that name", async (t) => {
  const slots = wholeCluster();
  const view = viewOf(slots, { api: unreachable });
  t.same(brief(planned(clusterOf({ pools: [] }), slots, view)).leave, ["w1 draining", "w2 draining"]);
  const other = { ...poolOf(1), instanceType: "gpu" };
  const plan = brief(planned(clusterOf({ pools: [other] }), slots));
  t.same(plan, { add: ["web 1.36.3"], leave: ["w1 draining", "w2 draining"] });
});

test("a deleted cluster is not drained, and gets no new machines", async (t) => {
  const [first, ...rest] = wholeCluster();
  const slots = [
    ...rest,
    newSlotOf("a"),
    slotOf("b", { state: "candidate" }),
    slotOf("c", { state: "draining" }),
    slotOf("d", { state: "releasing" }),
  ];
  t.ok(first);
  t.same(brief(planned(clusterOf({ isDeleting: true }), slots)), {
    add: [],
    leave: ["cp2", "cp3", "w1", "w2"]
      .map((uid) => `${uid} releasing`)
      .concat("a released", "b releasing", "c releasing"),
  });
});

test("a pool with too many machines loses the most dispensable ones", async (t) => {
  const servers = wholeCluster().slice(0, 3);
  const slots = [
    slotOf("old", { createdAtMs: 1 }),
    slotOf("new", { createdAtMs: 9 }),
    slotOf("silent", { createdAtMs: 2 }),
    slotOf("failing", { createdAtMs: 3, state: "deploying", reason: "MAAS_FAILED" }),
    slotOf("booting", { createdAtMs: 4, state: "booted" }),
    newSlotOf("wanted", { createdAtMs: 5 }),
  ];
  const view = viewOf([...servers, ...slots], { nodes: { silent: { isReady: false } } });
  const order = [
    "wanted released",
    "failing releasing",
    "silent draining",
    "booting releasing",
    "new draining",
  ];
  for (const count of [1, 2, 3, 4, 5]) {
    const plan = planned(clusterOf({ pools: [poolOf(count)] }), [...servers, ...slots], view);
    t.same(brief(plan).leave, order.slice(0, 6 - count), `the spec is ${count}`);
  }
});

test("no node is chosen for removal while nodes cannot be read", async (t) => {
  const slots = [...wholeCluster(), slotOf("w3", { state: "booted" }), slotOf("w4", { state: "deploying" })];
  const plan = planned(clusterOf({ pools: [poolOf(1)] }), slots, viewOf(slots, { api: unreachable }));
  t.same(brief(plan).leave, ["w4 releasing"]);
});

test("an adopted machine is treated like any other node", async (t) => {
  const adopted = slotOf("w3", { state: "booted", createdAtMs: nowMs, reason: "MAAS_UNAVAILABLE" });
  const late = slotOf("w4", { state: "deploying", createdAtMs: nowMs - 1 });
  const slots = [...wholeCluster(), adopted, late];
  const seen = {
    ...viewOf(slots),
    api: { isReachable: true, nodes: nodesOf([...wholeCluster(), adopted]) },
  } as const;
  const leaving = (count: number, view = seen as ClusterView, among: readonly SlotRecord[] = slots) =>
    brief(planned(clusterOf({ pools: [poolOf(count)] }), among, view)).leave;
  t.same(leaving(3), ["w4 releasing"], "it is less dispensable than one that is being installed");
  t.same(leaving(2), ["w4 releasing", "w3 draining"]);
  const silent = nodesOf([...wholeCluster(), adopted], { w3: { isReady: false } });
  t.same(leaving(3, { ...seen, api: { isReachable: true, nodes: silent } }), ["w4 releasing"]);
  t.same(leaving(2, { ...seen, api: { isReachable: true, nodes: silent } }), ["w4 releasing", "w3 draining"]);
  const view = { ...seen, api: unreachable };
  t.same(leaving(2, view, [...wholeCluster(), adopted]), [], "nor is it removed while nodes cannot be read");
  t.same(brief(planned(clusterOf({ pools: [] }), [adopted], view)).leave, ["w3 draining"]);
});

test("a control plane that has lost its data is not created again", async (t) => {
  const [, , , ...workers] = wholeCluster();
  t.same(planned(clusterOf(), workers), nothing, "not even workers are replaced");
  t.same(brief(planned(clusterOf({ pools: [poolOf(3)] }), workers)).add, []);
  const late = [...workers, newSlotOf("cp9", { pool: undefined }), serverOf("cp8", { state: "deploying" })];
  t.same(brief(planned(clusterOf(), late)).leave, ["cp9 released"]);
  const next = clusterOf({ k8sVersion: "1.37.1", controlPlaneVersion: "1.37.1" });
  t.same(planned(next, [...workers.slice(1), newSlotOf("w9")]), nothing, "nor upgraded");
  const leaving = [...workers, serverOf("cp1", { state: "draining" })];
  t.equal(planned(clusterOf(), leaving).add.length, 3, "a draining one still has the data");
  t.equal(
    planned(clusterOf({ hasRun: false }), []).add.length,
    5,
    "a cluster that has never run has no data to lose",
  );
});

test("a surplus control-plane machine that may have joined etcd is not removed", async (t) => {
  for (const state of ["deploying", "booted"] as const) {
    t.same(planned(clusterOf(), [...wholeCluster(), serverOf("cp4", { state })]), nothing, state);
  }
  const early = [...wholeCluster(), serverOf("cp4", { state: "allocated" })];
  const view = viewOf(early, { machines: { cp4: { status: "allocated" } } });
  t.same(brief(planned(clusterOf(), early, view)).leave, ["cp4 releasing"]);
  const joined = [...wholeCluster(), serverOf("cp4")];
  t.same(brief(planned(clusterOf(), joined)).leave, ["cp4 draining"]);
  const silent = viewOf(joined, { nodes: { cp1: { isReady: false } } });
  t.same(planned(clusterOf(), joined, silent), nothing, "while another one is not ready");
});
