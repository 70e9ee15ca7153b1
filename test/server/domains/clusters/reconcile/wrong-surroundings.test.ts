import { setTimeout as wait } from "node:timers/promises";
import { test } from "tap";
import { restMs } from "../../../../../server/domains/clusters/reconcile/step-slot.ts";
import { createTestClusters, type TestClusters } from "./clusters-under-test.ts";
import { nowMs, slotOf } from "./plan/sample-cluster.ts";

const dayMs = 24 * 3_600_000;
const newer = { set: { k8sVersion: "1.36.3", controlPlaneVersion: "1.36.3" } };

function eventsOf({ maas }: TestClusters, expected: string): number {
  const { region } = maas.fake;
  return region
    .machines()
    .flatMap(({ systemId }) => region.events(systemId))
    .filter(({ type }) => type === expected).length;
}

test("a machine is not marked as broken while none of its type became a node", async (t) => {
  const clusters = await createTestClusters(t, { machines: 1 });
  const { region } = clusters.maas.fake;
  const systemId = region.machines()[0]?.systemId ?? "";
  clusters.start({ boundary: (point) => void (point === "before maas.deploy" && region.failNext(systemId)) });
  await clusters.create("prod");
  await clusters.until(
    "prod",
    ({ slots }) => eventsOf(clusters, "Failed deployment") === 2 && slots[0]?.reason === "NO_MACHINE",
  );
  t.equal(region.machine(systemId)?.status, "ready");
  t.equal(eventsOf(clusters, "Marked broken"), 0);
  t.equal(region.machine(systemId)?.owner, undefined);
});

test("a machine that failed twice is marked as broken if one of its type is a node", async (t) => {
  const clusters = await createTestClusters(t, { machines: 1 });
  const { region } = clusters.maas.fake;
  let isLate = false;
  clusters.start({
    boundary: (point) => void (isLate && point === "before maas.deploy" && region.failNext("xxxxxx")),
  });
  await clusters.create("prod", { pools: { web: 1 } });
  await clusters.until("prod", ({ slots }) =>
    slots.some(({ pool, state }) => pool === undefined && state === "joined"),
  );
  isLate = true;
  region.add({ systemId: "xxxxxx", hostname: "late", tags: ["standard"] });
  await clusters.until("prod", () => region.machine("xxxxxx")?.status === "broken");
  t.equal(eventsOf(clusters, "Failed deployment"), 2);
});

test("a retry scheduled a day ahead was stored by a wrong clock, and is not waited for", async (t) => {
  const at = (ms: number) => restMs(slotOf("w1", { nextTryAtMs: nowMs + ms }), nowMs);
  t.same([at(-1), at(0), at(1_000), at(3_600_000), at(3_600_001), at(dayMs)], [0, 0, 1_000, 3_600_000, 0, 0]);

  const clusters = await createTestClusters(t, { deployMs: Number.POSITIVE_INFINITY });
  const first = clusters.start();
  await clusters.create("prod");
  const { cluster } = await clusters.until("prod", ({ slots: [slot] }) => slot?.ipAddress !== undefined);
  await first.close();
  const { store, maas } = clusters;
  const owner = "a-gateway-whose-clock-was-wrong";
  const claimant = { instanceId: owner, leaseMs: 20_000, backend: maas.url, isAlone: true };
  let { pass } = await store.run("clusters.claim", claimant);
  while (pass === undefined) {
    // It is due soon.
    await wait(20);
    pass = (await store.run("clusters.claim", claimant)).pass;
  }
  const { slots, fence } = pass;
  const fenced = { name: "prod", uid: cluster.uid, owner, fence };
  const change = slots.map(({ uid, state }) => ({ uid, from: state, nextTryInMs: dayMs }));
  t.match(await store.run("clusters.writeSlots", { fenced, add: [], change }), { ok: true });
  await store.run("clusters.yieldPass", { fenced });
  t.match(slots, [{ state: "deploying" }]);
  maas.fake.region.finish(slots[0]?.systemId ?? "");
  clusters.start();
  const after = await clusters.untilRunning("prod");
  t.equal(after.slots[0]?.uid, slots[0]?.uid);
});

test("without kube-vip no control-plane machine of a cluster with an endpoint is installed", async (t) => {
  const clusters = await createTestClusters(t, { machines: 3 });
  const without = { settings: { ...clusters.settings, kubeVipImage: undefined } };
  const first = clusters.start(without);
  await clusters.create("prod");
  const { cluster } = await clusters.until("prod", (state) => state.cluster.status === "error");
  t.match(cluster.message, "`clusters.endpoint`");
  t.equal(eventsOf(clusters, "Deploying"), 0);
  await first.close();

  const right = clusters.start();
  const before = await clusters.untilRunning("prod");
  await right.close();

  const again = clusters.start(without);
  await clusters.change("prod", newer);
  const upgrade = await clusters.until("prod", (state) => state.cluster.status === "degraded");
  t.match(upgrade.cluster.message, "`clusters.endpoint`");
  t.match(upgrade.slots.find(({ uid }) => uid === before.slots[0]?.uid)?.state, "joined");
  t.equal(eventsOf(clusters, "Deploying"), 1);
  await again.close();

  clusters.start();
  await clusters.untilRunning("prod");
  t.same(await clusters.differences(), []);
});

test("a cluster that has a node but never ran is not created again when its control plane is lost", async (t) => {
  const clusters = await createTestClusters(t, { machines: 2 });
  clusters.start();
  await clusters.create("prod", { pools: { web: 2 } });
  const before = await clusters.until("prod", ({ slots }) =>
    slots.some(({ pool, state }) => pool === "web" && state === "joined"),
  );
  t.match(before.cluster, { hasRun: false, status: "provisioning" });
  const server = before.slots.find(({ pool }) => pool === undefined)?.systemId ?? "";
  await clusters.maas.admin.release(server);
  const { cluster } = await clusters.until("prod", (state) => state.cluster.status === "error");
  t.match(cluster.message, "control plane");
  // It is free again: a worker allocates it, and waits for the cluster.
  const after = await clusters.until("prod", ({ slots }) =>
    slots.some(({ systemId, state, pool }) => systemId === server && state === "annotated" && pool === "web"),
  );
  t.ok(
    after.slots.every(({ pool }) => pool === "web"),
    "no machine is searched for that would initialize another cluster",
  );
  t.equal(eventsOf(clusters, "Deploying"), 2, "nothing was installed again");
  t.equal(clusters.workload.fake.clusters().length, 0);
  t.equal(after.cluster.status, "error");
});

test("with the right API key a cluster that another account's key could not see is unchanged", async (t) => {
  const clusters = await createTestClusters(t);
  const first = clusters.start();
  await clusters.create("prod", { pools: { web: 1 } });
  const before = await clusters.untilRunning("prod");
  await first.close();
  const again = clusters.start({ maas: clusters.maas.other });
  const blind = await clusters.until("prod", ({ cluster }) => /MAAS cannot be read/.test(cluster.message));
  t.match(
    blind.cluster.message,
    "API key belongs to sandbox-other, but the machines of its clusters belong to sandbox",
  );
  await clusters.change("prod", { scale: [{ name: "web", count: 2 }] });
  await clusters.until("prod", ({ slots }) => slots.some(({ reason }) => reason === "MAAS_DENIED"));
  t.equal(clusters.maas.fake.region.machines().filter(({ owner }) => owner === "sandbox-other").length, 0);
  await clusters.change("prod", { scale: [{ name: "web", count: 1 }] });
  await again.close();
  clusters.start();
  const after = await clusters.until(
    "prod",
    ({ cluster, slots }) => cluster.status === "running" && slots.every(({ message }) => message === ""),
  );
  t.same(
    after.slots.map(({ uid, systemId }) => [uid, systemId]),
    before.slots.map(({ uid, systemId }) => [uid, systemId]),
  );
});
