import { test } from "tap";
import { clusterStatusOf } from "../../../../../../server/domains/clusters/reconcile/plan/cluster-status.ts";
import type { ClusterRecord, SlotRecord } from "../../../../../../server/domains/clusters/store/records.ts";
import { clusterOf, newSlotOf, nowMs, serverOf, slotOf, viewOf, wholeCluster } from "./sample-cluster.ts";

const unreachable = { isReachable: false, why: "connection refused", forMs: 90_000 } as const;
const minuteMs = 60_000;
const [cp1, cp2, cp3, w1, w2] = wholeCluster();
const rest = [cp1, cp2, cp3, w1].flatMap((slot) => slot ?? []);

function found(slots: readonly SlotRecord[], view = viewOf(slots), cluster: ClusterRecord = clusterOf()) {
  const { status, message, isSettled, isCalm } = clusterStatusOf(cluster, slots, view);
  return [status, message, isSettled, isCalm];
}

test("a cluster runs when all of its machines exist and are ready", async (t) => {
  const slots = wholeCluster();
  t.same(found(slots), ["running", "", true, true]);
  t.same(found(slots, viewOf(slots, { unreadable: "it does not answer", images: undefined })), [
    "running",
    "MAAS cannot be read: it does not answer",
    true,
    true,
  ]);
  t.same(found(slots, viewOf(slots), clusterOf({ hasRun: false })), ["running", "", true, true]);
});

test("a cluster is provisioning until it has run for the first time", async (t) => {
  const cluster = clusterOf({ hasRun: false });
  t.same(found([], viewOf([], { api: undefined }), cluster), [
    "provisioning",
    "0 of 5 machines are ready",
    false,
    false,
  ]);
  const slots = [
    serverOf("cp1"),
    serverOf("cp2", { state: "deploying", hostname: "node-3" }),
    newSlotOf("cp3", { pool: undefined, reason: "NO_MACHINE", message: "none" }),
    newSlotOf("w1"),
    slotOf("w2", { state: "annotated" }),
  ];
  t.same(found(slots, viewOf(slots), cluster), [
    "provisioning",
    "1 of 5 machines are ready; no free standard machine for 1; node-3 is being installed; w2 is waiting to be installed; 1 machine is being chosen",
    false,
    false,
  ]);
  const joined = wholeCluster();
  const young = viewOf(joined, { nodes: { w2: { isReady: false, readyChangedAtMs: nowMs } } });
  t.same(found(joined, young, cluster), [
    "provisioning",
    "4 of 5 machines are ready; w2 is not ready",
    false,
    false,
  ]);
});

test("a configuration error is an error before a cluster has run, and degrades it afterwards", async (t) => {
  const slots = [
    ...rest,
    newSlotOf("w2", { reason: "NO_IMAGE", message: "MAAS has no image of 1.36.3 for it" }),
  ];
  const message = "4 of 5 machines are ready; MAAS has no image of 1.36.3 for it for 1";
  t.same(found(slots, viewOf(slots), clusterOf({ hasRun: false })), ["error", message, false, false]);
  t.same(found(slots), ["degraded", message, false, false]);
});

test("an unreachable MAAS is shown as one cause, whichever call failed", async (t) => {
  const why = "MAAS at http://maas/MAAS is unavailable: it, or a proxy in front of it, answered 502";
  const away = { reason: "MAAS_UNAVAILABLE", message: why, attempts: 3 };
  const slots = [...rest.slice(0, 3), newSlotOf("w1", away), newSlotOf("w2", away)];
  const cluster = clusterOf({ hasRun: false });
  const messageOf = (view = viewOf(slots)) => clusterStatusOf(cluster, slots, view).message;
  t.equal(messageOf(), `3 of 5 machines are ready; ${why} for 2`);
  t.equal(
    messageOf(viewOf(slots, { unreadable: why })),
    `3 of 5 machines are ready; MAAS cannot be read: ${why}; 2 machines are being chosen`,
  );
});

test("work in progress is reported", async (t) => {
  const slots = [...rest, slotOf("w2", { state: "booted" }), slotOf("x", { state: "releasing" })];
  t.same(found(slots), [
    "reconciling",
    "4 of 5 machines are ready; w2 is joining; x is being released",
    false,
    false,
  ]);
  const leaving = [...wholeCluster(), slotOf("x", { state: "draining" })];
  t.same(found(leaving), ["reconciling", "x is being drained", true, false]);
  const orphan = [...wholeCluster(), slotOf("x", { pool: "deleted" })];
  t.same(found(orphan), ["reconciling", "5 of 5 machines are ready", false, false]);
  t.same(found(rest), ["reconciling", "4 of 5 machines are ready", false, false]);
  const upgraded = clusterOf({ k8sVersion: "1.37.1", controlPlaneVersion: "1.37.1" });
  const upgrade = [...wholeCluster(), serverOf("cp4", { k8sVersion: "1.37.1", state: "deploying" })];
  t.same(found(upgrade, viewOf(upgrade), upgraded), [
    "reconciling",
    "5 of 5 machines are ready; 0 of 5 have the new version; cp4 is being installed",
    false,
    false,
  ]);
});

test("a node may be not ready for five minutes before it needs intervention", async (t) => {
  const slots = wholeCluster();
  const since = (ms: number, more = {}) =>
    viewOf(slots, { nodes: { w2: { isReady: undefined, readyChangedAtMs: nowMs - ms, ...more } } });
  t.same(found(slots, since(4 * minuteMs)), [
    "reconciling",
    "4 of 5 machines are ready; w2 is not ready",
    false,
    false,
  ]);
  t.same(found(slots, since(6 * minuteMs, { readyMessage: "Kubelet stopped posting node status." })), [
    "degraded",
    "4 of 5 machines are ready; w2: not ready: Kubelet stopped posting node status.",
    false,
    true,
  ]);
  const view = viewOf(slots, { api: { isReachable: true, nodes: new Map() } });
  t.match(found(slots, view), ["degraded", /cp1, cp2, cp3 and 2 more: no longer a node of the cluster/]);
});

test("missing machines and machines that are stuck need intervention", async (t) => {
  const lacking = [...rest, newSlotOf("w2", { reason: "NO_MACHINE", message: "none" })];
  t.same(found(lacking), [
    "degraded",
    "4 of 5 machines are ready; no free standard machine for 1",
    false,
    false,
  ]);
  const coming = [...lacking, slotOf("x", { state: "releasing" })];
  t.equal(found(coming)[0], "reconciling", "one is being released");
  const upgraded = clusterOf({ k8sVersion: "1.37.1", controlPlaneVersion: "1.37.1" });
  const surge = newSlotOf("cp4", { pool: undefined, k8sVersion: "1.37.1", reason: "NO_MACHINE" });
  const short = [...wholeCluster(), surge];
  t.equal(found(short, viewOf(short), upgraded)[0], "reconciling", "an old machine makes room");
  const locked = {
    state: "releasing",
    reason: "MACHINE_LOCKED",
    message: "locked in MAAS; unlock it",
  } as const;
  t.same(found([...wholeCluster(), slotOf("x", locked)]), [
    "degraded",
    "x: locked in MAAS; unlock it",
    true,
    false,
  ]);
  const named = { ...locked, message: "x is locked in MAAS" };
  t.equal(found([...wholeCluster(), slotOf("x", named)])[1], "x is locked in MAAS", "its name appears once");
  for (const [status, words] of [
    ["broken", "broken in MAAS"],
    ["missing", "missing in MAAS"],
    ["rescueMode", "in rescue mode"],
  ] as const) {
    const slots = wholeCluster();
    const view = viewOf(slots, { machines: { w2: { status } } });
    t.same(found(slots, view), ["degraded", `w2: ${words}`, true, true]);
  }
  const failing = (attempts: number) => [
    ...rest,
    slotOf("w2", { state: "deploying", reason: "MAAS_FAILED", message: "MAAS failed: 500", attempts }),
  ];
  t.equal(found(failing(2))[0], "reconciling");
  t.same(found(failing(3)), ["degraded", "4 of 5 machines are ready; w2: MAAS failed: 500", false, false]);
});

test("a cluster that is unreachable, or has lost its control plane, may be unusable", async (t) => {
  const slots = wholeCluster();
  t.same(found(slots, viewOf(slots, { api: unreachable })), [
    "error",
    "the API server cannot be reached: connection refused",
    false,
    false,
  ]);
  const workers = [w1, w2].flatMap((slot) => slot ?? []);
  const lost =
    "no machine of the control plane is left, so the cluster's data is lost; adopt one if it still exists in MAAS, or delete the cluster";
  t.same(found(workers, viewOf(workers, { api: unreachable })), ["error", lost, false, true]);
  t.same(found(workers, viewOf(workers, { api: undefined })), ["error", lost, false, true]);
  t.same(
    found(workers),
    ["degraded", "no machine of the control plane is known; adopt those that exist in MAAS", false, true],
    "a store restored from a backup does not know it, but the cluster exists",
  );
});

test("an API server may be unreachable for less than a minute before the cluster is unusable", async (t) => {
  const slots = wholeCluster();
  const silent = (forMs: number) => viewOf(slots, { api: { ...unreachable, forMs } });
  for (const status of ["running", "reconciling", "degraded"] as const) {
    t.equal(found(slots, silent(0), clusterOf({ status }))[0], status);
    t.equal(found(slots, silent(59_999), clusterOf({ status }))[0], status);
    t.equal(found(slots, silent(60_000), clusterOf({ status }))[0], "error");
  }
  t.same(found(slots, silent(1_000)), [
    "running",
    "the API server cannot be reached: connection refused",
    false,
    false,
  ]);
  t.equal(
    found(slots, silent(1_000), clusterOf({ status: "error" }))[0],
    "error",
    "it was in this status before",
  );
  const workers = [w1, w2].flatMap((slot) => slot ?? []);
  const lost = viewOf(workers, { api: { ...unreachable, forMs: 1_000 } });
  t.equal(found(workers, lost)[0], "error", "nothing is left that could respond");
});

test("a cluster being deleted is stopping, whatever else is wrong", async (t) => {
  const cluster = clusterOf({ isDeleting: true });
  t.same(found([], viewOf([], { api: unreachable }), cluster), ["stopping", "", false, false]);
  const slots = ["a", "b", "c", "d", "e"].map((uid) => slotOf(uid, { state: "releasing" }));
  t.same(found(slots, viewOf(slots, { api: unreachable }), cluster), [
    "stopping",
    "a, b, c and 2 more are being released",
    false,
    false,
  ]);
});

test("a message is never longer than 500 characters", async (t) => {
  const slots = Array.from({ length: 20 }, (_, index) =>
    slotOf(`w${index}`, { state: "releasing", reason: "MACHINE_LOCKED", message: `${index} `.repeat(100) }),
  );
  const { message } = clusterStatusOf(clusterOf(), slots, viewOf(slots));
  t.equal(message.length, 500);
  t.ok(message.endsWith("…"));
});
