import { test } from "tap";
import { createTestClusters } from "./clusters-under-test.ts";

test("a cluster with one control-plane machine and a pool runs, and is deleted", async (t) => {
  const clusters = await createTestClusters(t);
  clusters.start();
  await clusters.create("prod", { pools: { web: 2 } });
  const { cluster, slots } = await clusters.untilRunning("prod");
  t.equal(cluster.hasRun, true);
  t.equal(cluster.message, "");
  t.same(
    slots.map(({ state, pool, ipAddress, hostname }) => [
      state,
      pool,
      ipAddress !== undefined,
      hostname !== undefined,
    ]),
    [
      ["joined", undefined, true, true],
      ["joined", "web", true, true],
      ["joined", "web", true, true],
    ],
  );
  t.same(await clusters.differences(), []);
  t.equal(clusters.workload.fake.cluster("prod")?.nodes.size, 3);
  t.ok(clusters.maas.fake.region.reservations.has(cluster.endpoint ?? ""), "its address is reserved");

  await clusters.change("prod", { set: { isDeleting: true } });
  await clusters.untilGone("prod");
  t.same(await clusters.differences(), []);
  t.ok(clusters.maas.fake.region.machines().every(({ status }) => status === "ready"));
  t.equal(clusters.maas.fake.region.reservations.size, 0, "its address is released");
  t.same(clusters.workload.fake.refusals, []);
});

test("a cluster with three control-plane machines runs, and its pools are scaled up and down", async (t) => {
  const clusters = await createTestClusters(t, { machines: 12 });
  clusters.start();
  await clusters.create("prod", { controlPlane: 3, pools: { web: 1, db: 2 } });
  await clusters.untilRunning("prod");
  t.equal(clusters.workload.fake.cluster("prod")?.members.length, 3);

  await clusters.change("prod", { scale: [{ name: "web", count: 4 }] });
  await clusters.untilRunning("prod");
  t.equal(clusters.workload.fake.cluster("prod")?.nodes.size, 9);
  await clusters.change("prod", { scale: [{ name: "web", count: 1 }], removePools: ["db"] });
  await clusters.untilRunning("prod");
  t.equal(clusters.workload.fake.cluster("prod")?.nodes.size, 4);
  t.same(await clusters.differences(), []);
  t.equal(clusters.maas.fake.region.machines().filter(({ status }) => status === "ready").length, 8);
});

test("a cluster without an endpoint is reached through its first machine", async (t) => {
  const clusters = await createTestClusters(t);
  clusters.start();
  await clusters.create("prod", { hasNoEndpoint: true, pools: { web: 1 } });
  const { slots } = await clusters.untilRunning("prod");
  t.equal(clusters.workload.fake.cluster("prod")?.endpoint, undefined);
  t.ok(slots.every(({ state }) => state === "joined"));
});

test("an upgrade replaces one machine at a time, and the cluster keeps responding", async (t) => {
  const clusters = await createTestClusters(t, { machines: 10 });
  clusters.start();
  await clusters.create("prod", { controlPlane: 3, pools: { web: 2 } });
  const before = await clusters.untilRunning("prod");
  await clusters.change("prod", { set: { k8sVersion: "1.36.3", controlPlaneVersion: "1.36.3" } });
  const { slots } = await clusters.untilRunning("prod");
  t.same([...new Set(slots.map(({ k8sVersion }) => k8sVersion))], ["1.36.3"]);
  t.notOk(slots.some(({ uid }) => before.slots.some((slot) => slot.uid === uid)));
  const cluster = clusters.workload.fake.cluster("prod");
  t.equal(cluster?.members.length, 3);
  t.equal(cluster?.nodes.size, 5);
  t.match(cluster?.config.data.ClusterConfiguration, /kubernetesVersion: "v1\.36\.3"/);
  t.same(await clusters.differences(), []);
  t.same(clusters.workload.fake.refusals, []);
});
