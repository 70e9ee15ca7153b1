import { test } from "tap";
import { Cluster } from "../../../../gen/cnct/kaas/api/api_pb.ts";
import { imagesOf, newSlot, startClusters } from "./clusters-under-test.ts";

const { addNodePool, deleteNodePool, scaleNodePool, deleteCluster } = Cluster.method;

const clusterName = "prod";
const pool = (name: string, count = 1, instanceType = "standard") => ({ name, count, instanceType });

test("pools are appended to the existing ones, scaled, and deleted", async (t) => {
  const { call, createCluster, store } = await startClusters(t);
  await createCluster(clusterName);
  const pools = async () =>
    (await store.run("clusters.get", { name: clusterName }))?.cluster.pools.map(({ name, count }) => [
      name,
      count,
    ]);
  t.match(await call(addNodePool, { clusterName, workerNodePools: [pool("b"), pool("a", 4, "gpu")] }), {
    ok: true,
  });
  t.same(await pools(), [
    ["work", 2],
    ["b", 1],
    ["a", 4],
  ]);
  const nodePools = [
    { name: "a", count: 2 },
    { name: "work", count: 5 },
  ];
  t.match(await call(scaleNodePool, { clusterName, nodePools }), { ok: true });
  t.same(await pools(), [
    ["work", 5],
    ["b", 1],
    ["a", 2],
  ]);
  const before = await store.run("clusters.get", { name: clusterName });
  await call(scaleNodePool, { clusterName, nodePools });
  const after = await store.run("clusters.get", { name: clusterName });
  t.equal(after?.cluster.generation, before?.cluster.generation, "the same size is not a change");
  t.match(await call(deleteNodePool, { clusterName, nodePoolNames: ["work", "a", "work"] }), { ok: true });
  t.same(await pools(), [["b", 1]]);
});

test("all pools are looked up before any is changed", async (t) => {
  const { call, createCluster, everything } = await startClusters(t);
  await createCluster(clusterName);
  const before = await everything();
  const missing = { name: "InfraError", reason: "POOL_NOT_FOUND", code: "NOT_FOUND", message: /x, y$/ };
  await t.rejects(call(deleteNodePool, { clusterName, nodePoolNames: ["work", "x", "y"] }), missing);
  const nodePools = ["work", "x", "y"].map((name) => ({ name, count: 7 }));
  await t.rejects(call(scaleNodePool, { clusterName, nodePools }), missing);
  await t.rejects(call(addNodePool, { clusterName, workerNodePools: [pool("new"), pool("work")] }), {
    name: "InfraError",
    reason: "POOL_EXISTS",
    code: "ALREADY_EXISTS",
  });
  t.ok((await everything()) === before, "nothing was written");
});

test("invalid sizes and names are rejected with the field", async (t) => {
  const { call, createCluster, everything } = await startClusters(t);
  await createCluster(clusterName);
  const before = await everything();
  const work = { name: "work", count: 1 };
  for (const [nodePools, reason, field] of [
    [[{ ...work, count: 0 }], "SCALE_TO_ZERO", "node_pools[0].count"],
    [[work, { name: "x" }], "SCALE_TO_ZERO", "node_pools[1].count"],
    [[{ ...work, count: -1 }], "INVALID_FIELD", "node_pools[0].count"],
    [[{ ...work, count: 4_998 }], "INVALID_FIELD", "node_pools"],
    [[{ ...work, name: "" }], "INVALID_FIELD", "node_pools[0].name"],
    [[work, work], "INVALID_FIELD", "node_pools[1].name"],
  ] as const) {
    const refusal = { name: "InfraError", reason, code: "INVALID_ARGUMENT", violations: [{ field }] };
    await t.rejects(call(scaleNodePool, { clusterName, nodePools: [...nodePools] }), refusal, field);
  }
  await t.rejects(call(deleteNodePool, { clusterName, nodePoolNames: ["work", "../x"] }), {
    name: "InfraError",
    violations: [{ field: "node_pool_names[1]" }],
  });
  await t.rejects(call(addNodePool, { clusterName, workerNodePools: [pool("x", 0)] }), {
    name: "InfraError",
    reason: "SCALE_TO_ZERO",
  });
  await t.rejects(call(addNodePool, { clusterName: "", workerNodePools: [pool("x")] }), {
    name: "InfraError",
    violations: [{ field: "clusterName" }],
  });
  t.ok((await everything()) === before, "nothing was written");
});

test("an empty list changes nothing and is not an error", async (t) => {
  const { call, createCluster, everything } = await startClusters(t);
  await createCluster(clusterName);
  const before = await everything();
  t.match(await call(addNodePool, { clusterName }), { ok: true });
  t.match(await call(deleteNodePool, { clusterName }), { ok: true });
  t.match(await call(scaleNodePool, { clusterName }), { ok: true });
  t.ok((await everything()) === before);
  await t.rejects(call(addNodePool, { clusterName: "none" }), {
    name: "InfraError",
    reason: "CLUSTER_NOT_FOUND",
  });
});

test("in a cluster that is being deleted or upgraded no pools can be added, scaled or deleted", async (t) => {
  const { call, createCluster, writeSlots } = await startClusters(t);
  await createCluster(clusterName);
  await writeSlots([newSlot("s-1", undefined, "1.35.4"), newSlot("s-2", "work", "1.34.8")]);
  const calls: readonly (() => Promise<unknown>)[] = [
    () => call(addNodePool, { clusterName, workerNodePools: [pool("new")] }),
    () => call(deleteNodePool, { clusterName, nodePoolNames: ["work"] }),
    () => call(scaleNodePool, { clusterName, nodePools: [{ name: "work", count: 3 }] }),
  ];
  for (const refused of calls) {
    await t.rejects(refused(), {
      name: "InfraError",
      reason: "UPGRADE_IN_PROGRESS",
      code: "FAILED_PRECONDITION",
      message: /upgraded to 1\.35\.4: 1 of 2 machines/,
    });
  }
  await writeSlots([], { uid: "s-2", from: "wanted", state: "released" });
  await call(deleteCluster, { name: clusterName });
  for (const refused of calls) {
    await t.rejects(refused(), {
      name: "InfraError",
      reason: "CLUSTER_STOPPING",
      code: "FAILED_PRECONDITION",
    });
  }
});

test("a new pool cannot have the name of a former one whose machines have not started to leave", async (t) => {
  const { call, createCluster, writeSlots } = await startClusters(t);
  await createCluster(clusterName);
  await writeSlots([newSlot("s-1", "work")]);
  await call(deleteNodePool, { clusterName, nodePoolNames: ["work"] });
  const workerNodePools = [pool("work", 1, "gpu")];
  await t.rejects(call(addNodePool, { clusterName, workerNodePools }), {
    name: "InfraError",
    reason: "POOL_STOPPING",
    code: "FAILED_PRECONDITION",
    retryable: true,
  });
  await writeSlots([], { uid: "s-1", from: "wanted", state: "releasing" });
  t.match(await call(addNodePool, { clusterName, workerNodePools }), { ok: true });
});

test("a pool of a type without an image is rejected, unless the images are unknown", async (t) => {
  let isAway = false;
  const images = imagesOf(["1.35.4", "standard"]);
  const { call, createCluster } = await startClusters(t, {
    images: { read: () => (isAway ? Promise.reject(new Error("away")) : images.read()) },
  });
  await createCluster(clusterName);
  const workerNodePools = [pool("render", 1, "gpu")];
  await t.rejects(call(addNodePool, { clusterName, workerNodePools }), {
    name: "InfraError",
    reason: "NO_IMAGE",
    code: "FAILED_PRECONDITION",
    message: /no Kubernetes 1\.35\.4 image for gpu machines/,
  });
  isAway = true;
  t.match(await call(addNodePool, { clusterName, workerNodePools }), { ok: true });
});

test("a change that conflicts with a concurrent one is validated and tried again, up to a limit", async (t) => {
  const first = await startClusters(t);
  await first.createCluster(clusterName);
  let conflicts = 0;
  let left = 0;
  const { call } = await startClusters(t, {
    store: {
      ...first.store,
      run: async (name, args) => {
        if (name === "clusters.change" && left > 0) {
          left -= 1;
          conflicts += 1;
          const count = conflicts + 10;
          await first.call(scaleNodePool, { clusterName, nodePools: [{ name: "work", count }] });
        }
        return (await first.store.run(name, args)) as never;
      },
    },
  });
  left = 4;
  t.match(await call(addNodePool, { clusterName, workerNodePools: [pool("late")] }), { ok: true });
  t.equal(conflicts, 4);
  const found = await first.store.run("clusters.get", { name: clusterName });
  t.match(found?.cluster.pools, [
    { name: "work", count: 14 },
    { name: "late", count: 1 },
  ]);
  left = 5;
  await t.rejects(call(addNodePool, { clusterName, workerNodePools: [pool("later")] }), {
    name: "InfraError",
    reason: "CLUSTER_CHANGED",
    code: "ABORTED",
    retryable: true,
  });
});
