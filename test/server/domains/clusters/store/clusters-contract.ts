import type { Test } from "tap";
import { errorOf } from "../../../store/contract.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import {
  claimPass,
  claimWithSlots,
  countCalls,
  createCluster,
  headSeq,
  type MakeOptions,
  newCluster,
  newSlot,
  publishedBy,
  secretsSealed,
} from "./clusters-in-store.ts";

const labels = [{ name: "a/b", value: "'\"\\ü" }];
const pool = (name: string, count = 1) => ({ name, instanceType: "gpu", labels, count });

/** Tests what every store guarantees for the specs of clusters. */
export function testClusterContract(t: Test, makeOptions: MakeOptions): void {
  const open = async (t: Test) => openOwnStore(t, await makeOptions(t));

  t.test("a store has a unique ID to mark machines as its own", async (t) => {
    const store = await open(t);
    const { installationId, sequence } = await store.run("clusters.installation", {});
    t.match(installationId, /^[\da-f]{16}$/);
    t.equal(sequence, 0);
    t.same(await store.run("clusters.installation", {}), { installationId, sequence });
    const other = await open(t);
    t.not((await other.run("clusters.installation", {})).installationId, installationId);
  });

  t.test("a cluster is stored according to its spec, with an event", async (t) => {
    const store = await open(t);
    const calls = countCalls(store);
    const controlPlane = { instanceType: "standard", labels, count: 3 };
    const cluster = newCluster("blue", { controlPlane, pools: [pool("b", 2), pool("a")] });
    const endpoints = ["10.0.0.1"];
    t.same(await store.run("clusters.create", { cluster, endpoints, dryRun: true }), {
      ok: true,
      endpoint: "10.0.0.1",
    });
    t.same(await store.run("clusters.list", {}), [], "a dry run writes nothing");
    t.equal(calls.count, 0);
    t.same(await store.run("clusters.create", { cluster, endpoints }), { ok: true, endpoint: "10.0.0.1" });
    t.equal(calls.count, 1);
    const found = await store.run("clusters.get", { name: "blue" });
    t.match(found, {
      cluster: {
        name: "blue",
        uid: "blue-uid",
        backend: "maas",
        generation: 1,
        k8sVersion: "1.36.1",
        controlPlaneVersion: "1.36.2",
        controlPlane,
        pools: [pool("b", 2), pool("a")],
        endpoint: "10.0.0.1",
        secretsVersion: 1,
        isDeleting: false,
        status: "provisioning",
        message: "",
        settledGeneration: 0,
        hasRun: false,
        actor: "user/ada",
      },
      slots: [],
    });
    t.ok(Math.abs(Date.now() - (found?.cluster.createdAtMs ?? 0)) < 60_000);
    t.notMatch(Object.keys(found?.cluster ?? {}), /secretsSealed/);
    t.same(await publishedBy(store), [
      {
        topic: "clusters",
        type: "kubernetesCluster.created",
        resource: "clusters/blue",
        host: "",
        services: '["cnct.kaas.api.Cluster","hostplane.v1.ClusterService"]',
        facts: { kubernetesCluster: { name: "blue", status: "PROVISIONING", generation: "1" } },
      },
    ]);
    t.equal(await store.run("clusters.get", { name: "red" }), undefined);
  });

  t.test("a name is used once, and each address by one cluster", async (t) => {
    const store = await open(t);
    const create = (name: string, endpoints: readonly string[], dryRun = false) =>
      store.run("clusters.create", { cluster: newCluster(name), endpoints, dryRun });
    const two = ["10.0.0.1", "10.0.0.2"];
    t.same(await create("a", two), { ok: true, endpoint: "10.0.0.1" });
    const other = newCluster("a", { uid: "other" });
    t.same(await store.run("clusters.create", { cluster: other, endpoints: two }), {
      ok: false,
      why: "exists",
    });
    t.same(await create("b", two, true), { ok: true, endpoint: "10.0.0.2" });
    t.same(await create("c", two), { ok: true, endpoint: "10.0.0.2" });
    t.same(await create("d", two), { ok: false, why: "noEndpoint" });
    t.same(await create("d", two, true), { ok: false, why: "noEndpoint" });
    t.same(await create("e", []), { ok: true, endpoint: undefined });
    t.same(await create("f", []), { ok: true, endpoint: undefined }, "any number of clusters may have none");
    const names = (await store.run("clusters.list", {})).map(({ name }) => name);
    t.same(names, ["a", "c", "e", "f"], "refused clusters left nothing");
    t.equal((await store.run("clusters.get", { name: "a" }))?.cluster.uid, "a-uid");
  });

  t.test("clusters are listed in short form, and returned in full by name or all at once", async (t) => {
    const store = await open(t);
    for (const name of ["b", "a-2", "a"]) {
      await createCluster(store, name, { pools: [pool("p")] });
    }
    const pass = await claimPass(store);
    t.equal(pass.cluster.name, "a");
    await pass.write([], [newSlot("s1", { pool: "p", labels }), newSlot("s2")]);
    await pass.write([{ uid: "s2", from: "wanted", state: "released" }]);
    t.same(await store.run("clusters.list", {}), [
      { name: "a", backend: "maas", status: "provisioning", message: "" },
      { name: "a-2", backend: "maas", status: "provisioning", message: "" },
      { name: "b", backend: "maas", status: "provisioning", message: "" },
    ]);
    const all = await store.run("clusters.states", {});
    t.same(
      all.map(({ cluster, slots }) => [cluster.name, cluster.pools.length, slots.map(({ uid }) => uid)]),
      [
        ["a", 1, ["s1"]],
        ["a-2", 1, []],
        ["b", 1, []],
      ],
    );
    const named = await store.run("clusters.states", { names: ["b", "nobody", "a"] });
    t.same(named, [all[0], all[2]]);
    t.same(await store.run("clusters.states", { names: [] }), []);
    t.same(await store.run("clusters.get", { name: "a" }), all[0]);
  });

  t.test("a change to the spec applies only to the generation that was read", async (t) => {
    const store = await open(t);
    await createCluster(store, "a", { pools: [pool("p"), pool("q"), pool("r")] });
    const seq = await headSeq(store);
    const calls = countCalls(store);
    const change = { name: "a", uid: "a-uid", generation: 1 };
    const spec = {
      ...change,
      set: { k8sVersion: "1.37.0", controlPlaneVersion: "1.37.1" },
      removePools: ["p"],
      addPools: [pool("s"), pool("p", 7)],
      scale: [{ name: "r", count: 5 }],
    };
    t.same(await store.run("clusters.change", { ...spec, dryRun: true }), { ok: true, generation: 2 });
    t.equal((await store.run("clusters.get", { name: "a" }))?.cluster.generation, 1);
    t.same(await store.run("clusters.change", { ...spec, uid: "former" }), { ok: false, why: "notFound" });
    t.same(await store.run("clusters.change", { ...spec, name: "b" }), { ok: false, why: "notFound" });
    t.equal(calls.count, 0);
    t.same(await store.run("clusters.change", spec), { ok: true, generation: 2 });
    t.equal(calls.count, 1);
    t.same(await store.run("clusters.change", spec), { ok: false, why: "changed" });
    t.same(await store.run("clusters.change", { ...spec, dryRun: true }), { ok: false, why: "changed" });
    t.match((await store.run("clusters.get", { name: "a" }))?.cluster, {
      generation: 2,
      k8sVersion: "1.37.0",
      controlPlaneVersion: "1.37.1",
      pools: [pool("q"), pool("r", 5), pool("s"), pool("p", 7)],
      settledGeneration: 0,
    });
    t.match(await publishedBy(store, seq), [
      {
        type: "kubernetesCluster.changed",
        resource: "clusters/a",
        facts: {
          kubernetesCluster: {
            name: "a",
            status: "PROVISIONING",
            previousStatus: "PROVISIONING",
            generation: "2",
          },
        },
      },
    ]);
    const wrong = { ...change, generation: 2, scale: [{ name: "gone", count: 2 }] };
    t.equal((await errorOf(store.run("clusters.change", wrong))).reason, "INTERNAL");
    t.equal(
      (await store.run("clusters.get", { name: "a" }))?.cluster.generation,
      2,
      "nothing of it is stored",
    );
  });

  t.test("a change to the spec shows in the status immediately", async (t) => {
    const store = await open(t);
    const pass = await claimWithSlots(store, "a");
    await store.run("clusters.settle", {
      fenced: pass.fenced,
      status: "running",
      message: "fine",
      hasRun: true,
      settledGeneration: 1,
      dueInMs: 1000,
    });
    const change = (generation: number, set: { isDeleting?: true }) =>
      store.run("clusters.change", { name: "a", uid: "a-uid", generation, set });
    await change(1, {});
    t.match((await store.run("clusters.get", { name: "a" }))?.cluster, {
      status: "reconciling",
      message: "",
    });
    await change(2, { isDeleting: true });
    const stopping = { status: "stopping", isDeleting: true, generation: 3, settledGeneration: 1 };
    t.match((await store.run("clusters.get", { name: "a" }))?.cluster, stopping);
    await change(3, {});
    t.match((await store.run("clusters.get", { name: "a" }))?.cluster, { ...stopping, generation: 4 });
    const reported = (await publishedBy(store)).map(({ facts }) => facts);
    t.match(reported.at(-2), {
      kubernetesCluster: { status: "STOPPING", previousStatus: "RECONCILING", generation: "3" },
    });
  });

  t.test("secrets are returned only on request, and replaced only if the version matches", async (t) => {
    const store = await open(t);
    await createCluster(store, "a");
    const read = () => store.run("clusters.secrets", { name: "a" });
    t.same(await read(), { uid: "a-uid", secretsSealed, secretsVersion: 1 });
    const next = Uint8Array.from([7]);
    const set = { name: "a", uid: "a-uid", secretsVersion: 1, secretsSealed: next };
    t.same(await store.run("clusters.setSecrets", { ...set, uid: "former" }), { ok: false });
    t.same(await store.run("clusters.setSecrets", set), { ok: true });
    t.same(await store.run("clusters.setSecrets", set), { ok: false });
    t.same(await read(), { uid: "a-uid", secretsSealed: next, secretsVersion: 2 });
    t.equal((await store.run("clusters.get", { name: "a" }))?.cluster.secretsVersion, 2);
    t.equal(await store.run("clusters.secrets", { name: "b" }), undefined);
  });

  t.test("of concurrent changes or claims of the same thing, one succeeds", async (t) => {
    const options = await makeOptions(t);
    const first = await openOwnStore(t, options);
    const stores = first.isShared ? [first, await openOwnStore(t, options)] : [first];
    const each = <T>(count: number, act: (store: typeof first, index: number) => Promise<T>) =>
      Promise.all(
        Array.from({ length: count }, (_, index) => act(stores[index % stores.length] ?? first, index)),
      );
    const endpoints = Array.from({ length: 8 }, (_, index) => `10.0.0.${index}`);
    const created = await each(10, (store, index) =>
      store.run("clusters.create", { cluster: newCluster(`c${index}`), endpoints }),
    );
    const taken = created.flatMap((answer) => (answer.ok ? [answer.endpoint] : []));
    t.equal(taken.length, 8);
    t.equal(new Set(taken).size, 8);
    const same = await each(6, (store, index) =>
      store.run("clusters.create", { cluster: newCluster("same", { uid: `uid-${index}` }), endpoints: [] }),
    );
    t.equal(same.filter(({ ok }) => ok).length, 1);
    const changed = await each(6, (store) =>
      store.run("clusters.change", {
        name: "c0",
        uid: "c0-uid",
        generation: 1,
        set: { k8sVersion: "1.37.0" },
      }),
    );
    const isThere = created[0]?.ok === true;
    t.equal(changed.filter(({ ok }) => ok).length, isThere ? 1 : 0);
    const sealed = await each(6, (store, index) =>
      store.run("clusters.setSecrets", {
        name: "same",
        uid: `uid-${same.findIndex(({ ok }) => ok)}`,
        secretsVersion: 1,
        secretsSealed: Uint8Array.from([index]),
      }),
    );
    t.equal(sealed.filter(({ ok }) => ok).length, 1);
  });
}
