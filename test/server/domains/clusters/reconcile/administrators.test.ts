import { setTimeout as sleep } from "node:timers/promises";
import { test } from "tap";
import { createTestClusters, type TestClusters } from "./clusters-under-test.ts";

async function runningCluster(
  t: Parameters<typeof createTestClusters>[0],
  controlPlane: number,
): Promise<TestClusters> {
  const clusters = await createTestClusters(t, { machines: 6 });
  clusters.start();
  await clusters.create("prod", { controlPlane, pools: { web: 1 } });
  await clusters.untilRunning("prod");
  return clusters;
}

async function machineOf(clusters: TestClusters, pool: string | undefined): Promise<string> {
  const state = await clusters.state("prod");
  return state?.slots.find((slot) => slot.pool === pool)?.systemId ?? "";
}

/** Changes a machine, and waits until another one, or the same again, has replaced it. */
async function replaced(clusters: TestClusters, systemId: string, change: () => unknown): Promise<void> {
  const slot = (await clusters.state("prod"))?.slots.find((each) => each.systemId === systemId);
  await change();
  await clusters.until("prod", ({ slots }) => slots.every(({ uid }) => uid !== slot?.uid));
  await clusters.untilRunning("prod");
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await sleep(10);
  }
}

test("a machine released or marked as broken by an administrator is replaced, and its node is removed", async (t) => {
  const clusters = await runningCluster(t, 1);
  const systemId = await machineOf(clusters, "web");
  await replaced(clusters, systemId, () => clusters.maas.admin.release(systemId));

  const broken = await machineOf(clusters, "web");
  const { region } = clusters.maas.fake;
  await replaced(clusters, broken, () => region.change(broken, { kind: "markBroken", comment: "no power" }));
  t.equal(region.machine(broken)?.status, "broken");
  t.not(await machineOf(clusters, "web"), broken);
  t.equal(clusters.workload.fake.cluster("prod")?.nodes.size, 2);
  t.same(await clusters.differences(), []);
});

test("a machine deleted by an administrator or allocated by another user is not touched, and is replaced", async (t) => {
  const clusters = await runningCluster(t, 1);
  const deleted = await machineOf(clusters, "web");
  await replaced(clusters, deleted, () => clusters.maas.fake.region.remove(deleted));

  const others = await machineOf(clusters, "web");
  const { region } = clusters.maas.fake;
  await replaced(clusters, others, () => {
    region.change(others, { kind: "release", erase: false });
    region.finish(others);
    region.change(others, { kind: "allocate", owner: "sandbox-other", agentName: "" });
  });
  t.equal(region.machine(others)?.owner, "sandbox-other");
  t.equal(region.machine(others)?.status, "allocated", "it still belongs to that user");
  t.same(await clusters.differences(), []);
});

test("a machine that joined while no gateway was running, and is released when its pool shrinks, leaves no node", async (t) => {
  const clusters = await createTestClusters(t, { machines: 6 });
  const first = clusters.start();
  await clusters.create("prod", { pools: { web: 1 } });
  await clusters.untilRunning("prod");
  await first.close();
  const doomed = clusters.startDoomed((point) => point === "after maas.deploy");
  await clusters.change("prod", { scale: [{ name: "web", count: 2 }] });
  await doomed.stopped;
  const nodes = () => clusters.workload.fake.cluster("prod")?.nodes.size;
  await until(() => nodes() === 3);
  const { slots } = (await clusters.state("prod")) ?? { slots: [] };
  const { systemId = "" } = slots.find(({ state }) => state === "deploying") ?? {};
  await clusters.change("prod", { scale: [{ name: "web", count: 1 }] });
  await clusters.maas.admin.release(systemId);
  await until(() => clusters.maas.fake.region.machine(systemId)?.status === "ready");
  clusters.start();
  await clusters.until("prod", (state) => state.slots.length === 2);
  t.equal(nodes(), 2);
  await doomed.thaw();
  t.same(await clusters.differences(), []);
});

/** Lets another user allocate a machine, as after an administrator has released it. */
function takeByOther({ maas }: TestClusters, systemId: string): void {
  const { region } = maas.fake;
  region.change(systemId, { kind: "release", erase: false });
  region.finish(systemId);
  region.change(systemId, { kind: "allocate", owner: "sandbox-other", agentName: "" });
}

test("machines that belong to other users by now block neither scaling nor deletion", async (t) => {
  const clusters = await createTestClusters(t, { machines: 6 });
  clusters.start();
  await clusters.create("prod", { pools: { web: 3 } });
  await clusters.untilRunning("prod");
  const { slots } = (await clusters.state("prod")) ?? { slots: [] };
  const systemIds = slots.map(({ systemId = "" }) => systemId);
  const [worker = ""] = slots.flatMap(({ pool, systemId }) => (pool === "web" ? (systemId ?? []) : []));
  takeByOther(clusters, worker);
  await clusters.change("prod", { scale: [{ name: "web", count: 1 }] });
  await clusters.untilRunning("prod");
  for (const systemId of systemIds.filter((each) => each !== worker)) {
    takeByOther(clusters, systemId);
  }
  await clusters.change("prod", { set: { isDeleting: true } });
  await clusters.untilGone("prod");
  const { region } = clusters.maas.fake;
  t.ok(systemIds.every((systemId) => region.machine(systemId)?.owner === "sandbox-other"));
});

test("a machine that another user allocates right after its release ends its slot", async (t) => {
  const clusters = await createTestClusters(t, { machines: 2, maas: { releaseMs: 0 } });
  const { region } = clusters.maas.fake;
  const taken: string[] = [];
  clusters.start({
    boundary(point) {
      if (point === "after maas.release") {
        for (const { systemId } of region.machines().filter(({ status }) => status === "ready")) {
          region.change(systemId, { kind: "allocate", owner: "sandbox-other", agentName: "" });
          taken.push(systemId);
        }
      }
    },
  });
  await clusters.create("prod", { pools: { web: 1 } });
  await clusters.untilRunning("prod");
  await clusters.change("prod", { set: { isDeleting: true } });
  await clusters.untilGone("prod");
  t.equal(taken.length, 2);
});

test("a machine that is marked as another slot's is not touched", async (t) => {
  const clusters = await runningCluster(t, 1);
  const systemId = await machineOf(clusters, "web");
  const { region } = clusters.maas.fake;
  const annotations = { "hostplane-slot": "11111111-2222-4333-8444-555555555555" };
  await replaced(clusters, systemId, () =>
    region.change(systemId, { kind: "annotate", user: "sandbox", annotations }),
  );
  t.equal(region.machine(systemId)?.status, "deployed");
  t.equal(region.machine(systemId)?.owner, "sandbox");
});

test("when one of three control-plane machines is lost, it is removed from etcd and another one joins", async (t) => {
  const clusters = await runningCluster(t, 3);
  const systemId = await machineOf(clusters, undefined);
  await replaced(clusters, systemId, () => clusters.maas.admin.release(systemId));
  const cluster = clusters.workload.fake.cluster("prod");
  t.equal(cluster?.members.length, 3);
  t.ok(cluster?.members.every(({ boot }) => !boot.isGone));
  t.same(await clusters.differences(), []);
});

test("a machine locked by an administrator is released once it is unlocked", async (t) => {
  const clusters = await runningCluster(t, 1);
  const systemId = await machineOf(clusters, "web");
  await clusters.maas.admin.lock(systemId);
  await clusters.change("prod", { set: { isDeleting: true } });
  const { slots, cluster } = await clusters.until(
    "prod",
    ({ slots: [slot, ...more] }) => more.length === 0 && slot?.reason === "MACHINE_LOCKED",
  );
  t.match(slots[0]?.message, "locked in MAAS");
  t.equal(cluster.status, "stopping");
  await clusters.maas.admin.unlock(systemId);
  await clusters.untilGone("prod");
  t.equal(clusters.maas.fake.region.machine(systemId)?.status, "ready");
});

test("a machine whose release fails is released again", async (t) => {
  const clusters = await runningCluster(t, 1);
  const systemId = await machineOf(clusters, "web");
  clusters.maas.fake.region.failNext(systemId);
  clusters.maas.fake.region.failNext(systemId);
  await clusters.change("prod", { set: { isDeleting: true } });
  await clusters.untilGone("prod");
  t.ok(clusters.maas.fake.region.machines().every(({ status }) => status === "ready"));
});

test("a lost control plane is not silently created again", async (t) => {
  const clusters = await runningCluster(t, 1);
  const systemId = await machineOf(clusters, undefined);
  await clusters.maas.admin.release(systemId);
  const { cluster } = await clusters.until(
    "prod",
    (state) => state.cluster.status === "error" && state.slots.length === 1,
  );
  t.match(cluster.message, "control plane");
  t.equal(clusters.workload.fake.clusters().length, 0);
  await clusters.change("prod", { set: { isDeleting: true } });
  await clusters.untilGone("prod");
  t.same(await clusters.differences(), []);
});

test("pods that cannot be evicted delay a machine's removal, and its history names them", async (t) => {
  const clusters = await createTestClusters(t, { settings: { drainTimeoutMs: 3_000 } });
  clusters.start();
  await clusters.create("prod", { pools: { web: 1 } });
  await clusters.untilRunning("prod");
  const { slots } = (await clusters.state("prod")) ?? { slots: [] };
  const node = slots.find(({ pool }) => pool === "web")?.hostname ?? "";
  clusters.workload.fake
    .cluster("prod")
    ?.pods.add({ node, name: "db-0", budget: "it would violate the pod's disruption budget" });
  await clusters.change("prod", { removePools: ["web"] });
  const held = await clusters.until("prod", ({ slots: all }) =>
    all.some(({ message }) => message.includes("default/db-0")),
  );
  t.equal(held.slots.find(({ pool }) => pool === "web")?.state, "draining");
  await clusters.untilRunning("prod");
  const known = await clusters.store.run("clusters.machines", { name: "prod" });
  t.ok(known?.events.some(({ message }) => message.includes("default/db-0")));
  t.same(await clusters.differences(), []);
});

test("what is reported about a cluster and its machines contains no secrets", async (t) => {
  const clusters = await createTestClusters(t);
  const internal = { status: 500, text: "it failed" } as const;
  clusters.maas.fake.inject({ method: "POST", op: "deploy" }, { kind: "answer", answer: internal, times: 2 });
  clusters.start();
  await clusters.create("prod", { pools: { web: 1 } });
  await clusters.until("prod", ({ slots }) => slots.some(({ attempts }) => attempts > 0));
  await clusters.untilRunning("prod");
  const cluster = clusters.workload.fake.cluster("prod");
  const reported = JSON.stringify([
    await clusters.state("prod"),
    await clusters.store.run("clusters.machines", { name: "prod" }),
    clusters.logged,
  ]);
  const secrets = [...(cluster?.secrets.values() ?? [])].map(({ data }) => data["token-secret"] ?? "");
  t.ok(secrets.length > 1);
  for (const secret of [...secrets, "PRIVATE KEY", "#cloud-config"]) {
    t.notOk(reported.includes(secret));
  }
});

test("a machine that was installed while no gateway was running, and is then gone, leaves no node", async (t) => {
  const clusters = await createTestClusters(t, { machines: 4, settings: { leaseMs: 600 } });
  const first = clusters.start();
  await clusters.create("prod");
  const { slots } = await clusters.untilRunning("prod");
  await first.close();
  const doomed = clusters.startDoomed((point) => point === "after maas.deploy");
  const pool = { name: "web", instanceType: "standard", labels: [], count: 1 };
  await clusters.change("prod", { addPools: [pool] });
  await doomed.stopped;
  const cluster = clusters.workload.fake.cluster("prod");
  // Each read advances the fake cluster's time.
  await clusters.until(
    "prod",
    () => clusters.workload.fake.clusters().length === 1 && cluster?.nodes.size === 2,
  );
  const { region } = clusters.maas.fake;
  const unseen = region
    .machines()
    .find(({ systemId, owner }) => owner === "sandbox" && systemId !== slots[0]?.systemId);
  region.remove(unseen?.systemId ?? "");
  clusters.start();
  await clusters.untilRunning("prod");
  t.equal(cluster?.nodes.size, 2);
  t.notOk(cluster?.nodes.has(unseen?.hostname ?? ""), "its node is removed");
  t.same(await clusters.differences(), []);
});
