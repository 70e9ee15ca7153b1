import { test } from "tap";
import { Cluster, ClusterStatus } from "../../../../../gen/cnct/kaas/api/api_pb.ts";
import { watchClusters } from "../../../../../server/domains/clusters/state/watch-clusters.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { newSlot, noMaas, startClusters } from "../clusters-under-test.ts";

const { scaleNodePool } = Cluster.method;

/** Removes a cluster without machines, as a reconciler does. */
async function forget(store: Store, name: string): Promise<void> {
  const args = { instanceId: "gw", leaseMs: 60_000, backend: noMaas.url };
  for (;;) {
    const { pass } = await store.run("clusters.claim", args);
    if (pass === undefined) {
      throw new Error(`${name} is not due`);
    }
    if (pass.cluster.name === name) {
      const fenced = { name, uid: pass.cluster.uid, owner: "gw", fence: pass.fence };
      await store.run("clusters.forget", { fenced });
      return;
    }
  }
}

test("a watcher receives all clusters, then changed ones and the names of removed ones", async (t) => {
  const { call, clusters, createCluster, writeSlots, settle, store } = await startClusters(t);
  await createCluster("prod");
  const leaving = new AbortController();
  const watch = watchClusters(clusters.states, [], leaving.signal);
  const next = async () => (await watch.next()).value;
  t.match(await next(), {
    clusters: [
      {
        name: "prod",
        status: ClusterStatus.PROVISIONING,
        k8sVersion: "1.35.4",
        controlPlaneVersion: "1.35.4",
        endpoint: "10.20.0.220:6443",
        controlPlane: { name: "", instanceType: "standard", wanted: 3, machines: 0, ready: 0 },
        pools: [{ name: "work", wanted: 2, machines: 0 }],
        generation: 1n,
        settledGeneration: 0n,
        createdAt: {},
      },
    ],
    removed: [],
    readAt: {},
  });
  const machines = next();
  await writeSlots(
    [newSlot("s-1"), newSlot("s-2"), newSlot("s-3")],
    { uid: "s-1", from: "wanted", state: "joined" },
    { uid: "s-3", from: "wanted", state: "releasing" },
  );
  const reported = { name: "prod", controlPlane: { machines: 2, ready: 1 } };
  t.match(await machines, { clusters: [reported] }, "the node's present readiness is not read");

  const settled = next();
  await writeSlots([], { uid: "s-2", from: "wanted", message: "no free machine" });
  await settle();
  t.match(await settled, { clusters: [{ status: ClusterStatus.RUNNING, settledGeneration: 1n }] });

  const scaled = next();
  await call(scaleNodePool, { clusterName: "prod", nodePools: [{ name: "work", count: 7 }] });
  t.match(await scaled, { clusters: [{ pools: [{ wanted: 7 }], generation: 2n }] });

  const other = next();
  await createCluster("test");
  t.match(await other, { clusters: [{ name: "test" }] }, "unchanged clusters are not sent again");

  const gone = next();
  await call(Cluster.method.deleteCluster, { name: "test" });
  await forget(store, "test");
  let last = await gone;
  if (last?.removed?.length === 0) {
    t.match(last, { clusters: [{ name: "test", status: ClusterStatus.STOPPING }] });
    last = await next();
  }
  t.match(last, { clusters: [], removed: ["test"] });
  const end = watch.next();
  leaving.abort(new Error("the caller left"));
  // A read in progress ends with the reason of the abort.
  t.ok(
    await end.then(
      ({ done }) => done,
      (error) => error.message === "the caller left",
    ),
  );
});

test("concurrent changes are sent in one message", async (t) => {
  const { call, clusters, createCluster } = await startClusters(t);
  await createCluster("prod");
  const leaving = new AbortController();
  const watch = watchClusters(clusters.states, ["prod", "nobody"], leaving.signal);
  await watch.next();
  const next = watch.next();
  for (const count of [3, 4, 5, 6]) {
    await call(scaleNodePool, { clusterName: "prod", nodePools: [{ name: "work", count }] });
  }
  const { value } = await next;
  const generation = value?.clusters?.[0]?.generation ?? 0n;
  t.ok(generation > 2n, `the first message contains ${generation} changes`);
  leaving.abort(new Error("the caller left"));
  await watch.return();
});
