import type { Test } from "tap";
import type { Store } from "../../../../../server/store/store.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import {
  claimPass,
  claimWithSlots,
  countCalls,
  createCluster,
  headSeq,
  longMs,
  type MakeOptions,
  newSlot,
  noTimeMs,
  publishedBy,
  secretsSealed,
} from "./clusters-in-store.ts";

const claim = (store: Store, instanceId: string, leaseMs = longMs, backend = "maas") =>
  store.run("clusters.claim", { instanceId, leaseMs, backend });
const clusterOf = async (store: Store, name: string) => (await store.run("clusters.get", { name }))?.cluster;

/** Tests what every store guarantees for reconciliation passes. */
export function testClusterPassContract(t: Test, makeOptions: MakeOptions): void {
  const open = async (t: Test) => openOwnStore(t, await makeOptions(t));

  t.test("a cluster belongs to one gateway, until it is released or the lease expires", async (t) => {
    const store = await open(t);
    t.same(await claim(store, "g1"), { nextDueInMs: undefined });
    await createCluster(store, "a");
    await createCluster(store, "b");
    const first = await claim(store, "g1");
    t.match(first, {
      pass: { cluster: { name: "a" }, slots: [], fence: 1 },
      nextDueInMs: 0,
    });
    t.same(first.pass?.secretsSealed, secretsSealed);
    t.ok(Math.abs(Date.now() - (first.pass?.nowMs ?? 0)) < 60_000);
    const second = await claim(store, "g2", noTimeMs);
    t.equal(second.pass?.cluster.name, "b");
    t.ok(Number(second.nextDueInMs) > longMs - 60_000, "the other one when its lease expires");
    const third = await claim(store, "g1");
    t.match(
      third.pass,
      { cluster: { name: "b" }, fence: 2 },
      "a cluster with an expired lease can be claimed",
    );
    const none = await claim(store, "g2");
    t.equal(none.pass, undefined);
    t.ok(Number(none.nextDueInMs) > longMs - 60_000);
  });

  t.test("the only gateway of a store ignores all leases except its own", async (t) => {
    const store = await open(t);
    await createCluster(store, "a");
    const before = await claimPass(store, "g1");
    const claimant = { leaseMs: longMs, backend: "maas", isAlone: true };
    t.equal((await store.run("clusters.claim", { ...claimant, instanceId: "g1" })).pass, undefined);
    const next = await store.run("clusters.claim", { ...claimant, instanceId: "g2" });
    t.match(next.pass, { cluster: { name: "a" }, fence: 2 });
    t.same(await store.run("clusters.renew", { fenced: before.fenced, leaseMs: longMs }), { ok: false });
  });

  t.test("a clock that was wrong for a while does not delay a cluster", async (t) => {
    const store = await open(t);
    await createCluster(store, "a");
    const { fenced } = await claimPass(store, "g1", 3 * longMs);
    const next = await claimPass(store, "g2");
    t.same(await store.run("clusters.renew", { fenced, leaseMs: longMs }), { ok: false });
    await store.run("clusters.settle", {
      fenced: next.fenced,
      status: "running",
      message: "",
      dueInMs: 3 * longMs,
    });
    const { pass, nextDueInMs } = await claim(store, "g1");
    t.equal(pass, undefined, "a delay that is too long is cut to one hour");
    t.ok(Number(nextDueInMs) > longMs - 60_000);
  });

  t.test("clusters of another backend are ignored", async (t) => {
    const store = await open(t);
    await createCluster(store, "a", { backend: "other" });
    t.same(await claim(store, "g1"), { nextDueInMs: undefined });
    t.equal((await claim(store, "g1", longMs, "other")).pass?.cluster.name, "a");
  });

  t.test("a gateway that has lost a cluster can no longer write to it", async (t) => {
    const store = await open(t);
    await createCluster(store, "a");
    const frozen = await claimPass(store, "g1", noTimeMs);
    await frozen.write([], [newSlot("s1")]);
    t.same(await store.run("clusters.renew", { fenced: frozen.fenced, leaseMs: noTimeMs }), { ok: true });
    const pass = await claimPass(store, "g2");
    await pass.write([{ uid: "s1", from: "wanted", state: "candidate", candidateId: "m1" }]);
    await store.run("clusters.change", { name: "a", uid: "a-uid", generation: 1, set: { isDeleting: true } });
    const seq = await headSeq(store);
    const before = await store.run("clusters.get", { name: "a" });
    const calls = countCalls(store);
    for (const fenced of [
      frozen.fenced,
      { ...pass.fenced, owner: "g1" },
      { ...pass.fenced, fence: pass.fence + 1 },
      { ...pass.fenced, uid: "former" },
      { ...pass.fenced, name: "b" },
    ]) {
      const add = [newSlot("s2")];
      const change = [{ uid: "s1", from: "candidate", state: "released" }] as const;
      t.same(await store.run("clusters.writeSlots", { fenced, add, change }), { ok: false });
      t.same(await store.run("clusters.writeSlots", { fenced, add: [], change: [] }), { ok: false });
      t.same(await store.run("clusters.renew", { fenced, leaseMs: longMs }), { ok: false });
      const found = { fenced, status: "running", message: "", hasRun: true, dueInMs: 0 } as const;
      t.same(await store.run("clusters.settle", found), { ok: false });
      await store.run("clusters.yieldPass", { fenced });
      t.same(await store.run("clusters.forget", { fenced }), { ok: false });
    }
    t.same(await store.run("clusters.get", { name: "a" }), before);
    t.same(await publishedBy(store, seq), []);
    t.equal(calls.count, 0);
    t.same(await store.run("clusters.renew", { fenced: pass.fenced, leaseMs: longMs }), { ok: true });
    t.equal((await claim(store, "g1")).pass, undefined, "it still belongs to the other gateway");
  });

  t.test("a pass records the state of the cluster, which is due again after the given delay", async (t) => {
    const store = await open(t);
    const pass = await claimWithSlots(store, "a");
    const seq = await headSeq(store);
    const calls = countCalls(store);
    const running = { status: "running", message: "all is well", dueInMs: longMs } as const;
    const settle = (args: object, fenced = pass.fenced) =>
      store.run("clusters.settle", { ...running, ...args, fenced });
    t.same(await settle({ hasRun: true, settledGeneration: 1 }), { ok: true });
    t.match(await clusterOf(store, "a"), {
      status: "running",
      message: "all is well",
      hasRun: true,
      settledGeneration: 1,
    });
    t.equal(calls.count, 1);
    t.match(await publishedBy(store, seq), [
      {
        type: "kubernetesCluster.status",
        resource: "clusters/a",
        facts: {
          kubernetesCluster: {
            status: "RUNNING",
            statusMessage: "all is well",
            previousStatus: "PROVISIONING",
            generation: "1",
          },
        },
      },
    ]);
    t.same(await settle({}), { ok: false }, "the claim was released");
    const { pass: early, nextDueInMs } = await claim(store, "g1");
    t.equal(early, undefined);
    t.ok(Number(nextDueInMs) > longMs - 60_000 && Number(nextDueInMs) <= longMs);

    await store.run("clusters.change", { name: "a", uid: "a-uid", generation: 1 });
    const again = await claimPass(store);
    const reported = await headSeq(store);
    const called = calls.count;
    await settle({ status: "reconciling", message: "", dueInMs: noTimeMs }, again.fenced);
    t.equal(await headSeq(store), reported, "no event when nothing has changed");
    t.equal(calls.count, called);
    t.match(await clusterOf(store, "a"), { hasRun: true, settledGeneration: 1 }, "both values are kept");
    t.equal((await claimPass(store)).fence, again.fence + 1, "due immediately");
  });

  t.test("a change that is made during a pass survives the end of the pass", async (t) => {
    const store = await open(t);
    const pass = await claimWithSlots(store, "a");
    await store.run("clusters.change", { name: "a", uid: "a-uid", generation: 1, set: { isDeleting: true } });
    const seq = await headSeq(store);
    const calls = countCalls(store);
    const found = { status: "running", message: "fine", hasRun: true } as const;
    t.equal((await claim(store, "g2")).pass, undefined, "it stays with the gateway that has claimed it");
    await store.run("clusters.settle", { fenced: pass.fenced, ...found, dueInMs: longMs });
    t.match(await clusterOf(store, "a"), {
      status: "stopping",
      message: "",
      hasRun: true,
      settledGeneration: 0,
      generation: 2,
    });
    t.equal(await headSeq(store), seq);
    t.equal(calls.count, 1, "others may continue with it");
    t.match(await claimPass(store, "g2"), { cluster: { isDeleting: true } });
  });

  t.test("a pass that is given up can be claimed by any gateway immediately", async (t) => {
    const store = await open(t);
    const pass = await claimWithSlots(store, "a");
    const calls = countCalls(store);
    await store.run("clusters.yieldPass", { fenced: pass.fenced });
    t.equal(calls.count, 1);
    t.equal((await claimPass(store, "g2")).fence, pass.fence + 1);
  });

  t.test(
    "the cluster that has been due longest comes first, and a changed one before all others",
    async (t) => {
      const store = await open(t);
      for (const name of ["a", "b", "c"]) {
        await createCluster(store, name);
      }
      const settle = async (dueInMs: number) => {
        const { cluster, fenced } = await claimPass(store);
        await store.run("clusters.settle", { fenced, status: "running", message: "", dueInMs });
        return cluster.name;
      };
      t.same([await settle(-1000), await settle(-3000), await settle(-2000)], ["a", "b", "c"]);
      await store.run("clusters.change", { name: "a", uid: "a-uid", generation: 1 });
      t.same([await settle(longMs), await settle(longMs), await settle(longMs)], ["a", "b", "c"]);
    },
  );

  t.test("a cluster is removed when it is being deleted and all of its machines are released", async (t) => {
    const store = await open(t);
    await createCluster(store, "a", {
      pools: [{ name: "p", instanceType: "standard", labels: [], count: 1 }],
    });
    const pass = await claimPass(store);
    const forget = () => store.run("clusters.forget", { fenced: pass.fenced });
    t.same(await forget(), { ok: false }, "it is not being deleted");
    await pass.write([], [newSlot("s1")]);
    await store.run("clusters.change", { name: "a", uid: "a-uid", generation: 1, set: { isDeleting: true } });
    t.same(await forget(), { ok: false }, "it has a machine");
    await pass.write([
      { uid: "s1", from: "wanted", state: "candidate", candidateId: "m1", history: { message: "chosen" } },
    ]);
    await pass.write([{ uid: "s1", from: "candidate", state: "released" }]);
    const seq = await headSeq(store);
    const calls = countCalls(store);
    t.same(await forget(), { ok: true });
    t.equal(calls.count, 1);
    t.match(await publishedBy(store, seq), [
      {
        type: "kubernetesCluster.removed",
        resource: "clusters/a",
        facts: { kubernetesCluster: { name: "a", status: "STOPPING", generation: "2" } },
      },
    ]);
    t.same(await store.run("clusters.list", {}), []);
    t.same(await forget(), { ok: false });
    t.match(
      await store.run("clusters.trace", { systemIds: ["m1"], slotUids: [] }),
      { slots: [{ uid: "s1", state: "released", clusterUid: "a-uid" }], candidates: [{ slotUid: "s1" }] },
      "the history of its machines is kept",
    );
    await createCluster(store, "a", { uid: "next" });
    const next = await store.run("clusters.get", { name: "a" });
    t.match(next, { cluster: { uid: "next", pools: [] }, slots: [] });
    t.same(await store.run("clusters.machines", { name: "a" }), { slots: [], events: [] });
  });

  t.test("gateways that claim at the same time get different clusters", async (t) => {
    const options = await makeOptions(t);
    const first = await openOwnStore(t, options);
    const stores = first.isShared ? [first, await openOwnStore(t, options)] : [first];
    for (let index = 0; index < 20; index += 1) {
      await createCluster(first, `c${index}`);
    }
    const claimed = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        claim(stores[index % stores.length] ?? first, `g${index % 2}`),
      ),
    );
    const names = claimed.flatMap(({ pass }) => (pass === undefined ? [] : [pass.cluster.name]));
    t.equal(names.length, 20);
    t.equal(new Set(names).size, 20);
  });
}
