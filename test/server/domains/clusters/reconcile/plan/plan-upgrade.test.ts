import { test } from "tap";
import {
  planSlots,
  type SlotPlan,
} from "../../../../../../server/domains/clusters/reconcile/plan/plan-slots.ts";
import type { ClusterRecord, SlotRecord } from "../../../../../../server/domains/clusters/store/records.ts";
import { clusterOf, newSlotOf, nowMs, serverOf, slotOf, viewOf, wholeCluster } from "./sample-cluster.ts";

const nothing = { add: [], leave: [] };
/** All machines have 1.36.3, and the spec is 1.37.1. */
const upgrading = clusterOf({ k8sVersion: "1.37.1", controlPlaneVersion: "1.37.1" });
const newServers = ["cp1", "cp2", "cp3"].map((uid) => serverOf(uid, { k8sVersion: "1.37.1" }));
const workers = wholeCluster().slice(3);
const surgeServer = { pool: undefined, k8sVersion: "1.37.1", createdAtMs: nowMs };

function brief(cluster: ClusterRecord, slots: readonly SlotRecord[], view = viewOf(slots)) {
  const plan: SlotPlan = planSlots(cluster, slots, view, () => "new");
  return {
    add: plan.add.map(({ pool = "", k8sVersion }) => `${pool} ${k8sVersion}`.trim()),
    leave: plan.leave.map(({ uid, to }) => `${uid} ${to}`),
  };
}

test("the control plane is upgraded first, by adding one machine and then removing one", async (t) => {
  const slots = wholeCluster();
  t.same(brief(upgrading, slots), { add: ["1.37.1"], leave: [] });
  for (const state of ["allocated", "deploying", "booted"] as const) {
    t.same(brief(upgrading, [...slots, serverOf("cp4", { ...surgeServer, state })]), nothing, state);
  }
  const joined = [...slots, serverOf("cp4", surgeServer)];
  t.same(brief(upgrading, joined), { add: [], leave: ["cp1 draining"] }, "the oldest is removed");
  const draining = joined.map((slot) =>
    slot.uid === "cp1" ? { ...slot, state: "draining" as const } : slot,
  );
  t.same(brief(upgrading, draining), nothing, "the next waits for it");
  const released = joined.map((slot) =>
    slot.uid === "cp1" ? { ...slot, state: "releasing" as const } : slot,
  );
  t.same(brief(upgrading, released), { add: ["1.37.1"], leave: [] });
});

test("an upgrade of the control plane continues only while all of it is known to be ready", async (t) => {
  const joined = [...wholeCluster(), serverOf("cp4", surgeServer)];
  for (const slots of [wholeCluster(), joined]) {
    for (const view of [
      viewOf(slots, { nodes: { cp2: { isReady: false } } }),
      viewOf(slots, { nodes: { cp2: { isReady: undefined } } }),
      viewOf(slots, { api: { isReachable: false, why: "", forMs: 0 } }),
    ]) {
      t.same(brief(upgrading, slots, view), nothing);
    }
  }
});

test("without an endpoint no control-plane machine is replaced", async (t) => {
  const cluster = { ...upgrading, endpoint: undefined, pools: [] };
  const one = { ...cluster, controlPlane: { ...cluster.controlPlane, count: 1 } };
  t.same(brief(one, [serverOf("cp1")]), nothing);
  t.same(brief({ ...one, endpoint: "10.20.0.200" }, [serverOf("cp1")]), { add: ["1.37.1"], leave: [] });
});

test("without a free machine one of three is removed first, if the others are ready", async (t) => {
  const waiting = newSlotOf("cp4", { ...surgeServer, reason: "NO_MACHINE" });
  const slots = [...wholeCluster(), waiting];
  const first = { add: [], leave: ["cp1 draining"] };
  t.same(brief(upgrading, slots), first);
  t.same(brief(upgrading, [...wholeCluster(), { ...waiting, reason: "NO_IMAGE" }]), nothing);
  t.same(brief(upgrading, slots, viewOf(slots, { nodes: { cp3: { isReady: false } } })), nothing);
  t.same(brief(upgrading, slots, viewOf(slots, { images: undefined })), nothing, "MAAS cannot be read");
  t.same(
    brief(upgrading, [...slots, slotOf("x", { state: "releasing" })]),
    nothing,
    "a machine is being released",
  );
  const stuck = slotOf("x", { state: "releasing", reason: "MACHINE_LOCKED" });
  t.same(brief(upgrading, [...slots, stuck]), first, "one that cannot be released will not become free");
  const one = { ...upgrading, controlPlane: { ...upgrading.controlPlane, count: 1 }, pools: [] };
  t.same(brief(one, [serverOf("cp1"), waiting]), nothing, "the only one stays");
});

test("pools follow once no old API server is left, each pool one machine at a time", async (t) => {
  const old = serverOf("cp9", { state: "draining" });
  t.same(brief(upgrading, [...newServers, ...workers, old]), nothing);
  const gone = { ...old, state: "releasing" as const };
  t.same(brief(upgrading, [...newServers, ...workers, gone]), { add: ["web 1.37.1"], leave: [] });
  const surge = slotOf("w3", { k8sVersion: "1.37.1", createdAtMs: nowMs });
  const booted = { ...surge, state: "booted" as const };
  t.same(brief(upgrading, [...newServers, ...workers, booted]), nothing);
  const slots = [...newServers, ...workers, surge];
  t.same(brief(upgrading, slots), { add: [], leave: ["w1 draining"] });
  const failing = viewOf(slots, { nodes: { w3: { isReady: false } } });
  t.same(
    brief(upgrading, slots, failing),
    nothing,
    "a machine of the new version that is not ready stops it",
  );
  const dead = viewOf(slots, { nodes: { w2: { isReady: false } } });
  t.same(
    brief(upgrading, slots, dead),
    { add: [], leave: ["w2 draining"] },
    "one that is not ready is replaced first",
  );
  const waiting = newSlotOf("w3", { k8sVersion: "1.37.1", reason: "NO_MACHINE" });
  t.same(brief(upgrading, [...newServers, ...workers, waiting]), { add: [], leave: ["w1 draining"] });
  const next = [...newServers, slotOf("w2"), waiting, slotOf("w1", { state: "draining" })];
  t.same(brief(upgrading, next), nothing, "and no second one");
  const replacement = { ...waiting, uid: "w4" };
  t.same(
    brief(upgrading, [...newServers, slotOf("w2"), waiting, replacement]),
    nothing,
    "nor with one missing",
  );
  const ill = [...newServers, ...workers, slotOf("w4", { k8sVersion: "1.37.1" }), waiting];
  const three = { ...upgrading, pools: [{ name: "web", instanceType: "standard", labels: [], count: 3 }] };
  t.same(brief(three, ill, viewOf(ill, { nodes: { w4: { isReady: false } } })), nothing);
  const leaving = slotOf("w1", { state: "draining" });
  t.same(brief(upgrading, [...newServers, slotOf("w2"), surge, leaving]), nothing, "the next waits for it");
});

test("machines without an installation are replaced at once by ones of the new version", async (t) => {
  const slots = [...newServers, slotOf("w1", { state: "annotated" }), newSlotOf("w2")];
  const view = viewOf(slots, { machines: { w1: { status: "allocated" } } });
  const plan = { add: ["web 1.37.1", "web 1.37.1"], leave: ["w1 releasing", "w2 released"] };
  t.same(brief(upgrading, slots, view), plan);
  const unseen = viewOf(slots, { unreadable: "down" });
  t.same(brief(upgrading, slots, unseen), { add: ["web 1.37.1"], leave: ["w2 released"] });
  const deployed = viewOf(slots, { machines: { w1: { status: "deployed" } } });
  t.same(
    brief(upgrading, slots, deployed).leave,
    ["w2 released"],
    "MAAS is more up to date than an old store",
  );
});

test("a pool can be scaled up and down during an upgrade", async (t) => {
  const sized = (count: number) => ({
    ...upgrading,
    pools: [{ name: "web", instanceType: "standard", labels: [], count }],
  });
  const current = slotOf("w3", { k8sVersion: "1.37.1", createdAtMs: nowMs });
  const slots = [...newServers, ...workers, current];
  t.same(brief(sized(5), slots), { add: ["web 1.37.1", "web 1.37.1"], leave: [] });
  t.same(brief(sized(1), slots), { add: [], leave: ["w2 draining", "w1 draining"] }, "old ones first");
});

test("while the control plane is being upgraded, pools get machines of their present version", async (t) => {
  const slots = wholeCluster();
  const larger = { name: "web", instanceType: "standard", labels: [], count: 3 };
  const fresh = { name: "ml", instanceType: "gpu", labels: [], count: 1 };
  const cluster = { ...upgrading, pools: [larger, fresh] };
  t.same(brief(cluster, slots), { add: ["1.37.1", "web 1.36.3", "ml 1.36.3"], leave: [] });
  t.same(brief(cluster, [...newServers, ...workers]).add, ["web 1.37.1", "ml 1.37.1"]);
  const behind = clusterOf({ k8sVersion: "1.31.0", controlPlaneVersion: "1.31.0", pools: [larger] });
  const crossing = [serverOf("a", { k8sVersion: "1.30.9" }), serverOf("b", { k8sVersion: "1.31.0" })];
  t.same(
    brief(behind, [...crossing, ...workers.map((slot) => ({ ...slot, k8sVersion: "1.30.9" }))]).add,
    ["1.31.0"],
    "a machine that can join with no version waits",
  );
});
