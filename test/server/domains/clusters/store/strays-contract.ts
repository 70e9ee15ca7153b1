import type { Test } from "tap";
import { isAdopted } from "../../../../../server/domains/clusters/store/is-adopted.ts";
import type { AdoptedSlot } from "../../../../../server/domains/clusters/store/strays.ts";
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
  publishedBy,
} from "./clusters-in-store.ts";

const stray: AdoptedSlot = {
  ...newSlot("s9", { pool: "p" }),
  cluster: "a",
  clusterUid: "a-uid",
  systemId: "m9",
  hostname: "node-9",
  ipAddress: "10.0.0.9",
  sequence: 40,
  state: "booted",
};

/** Creates a cluster with a pool of two, and claims it with slots in state `wanted`. */
async function claimWithPool(store: Store, name: string, ...uids: string[]) {
  const pools = [{ name: "p", instanceType: "standard", labels: [], count: 2 }];
  await createCluster(store, name, { pools });
  const pass = await claimPass(store);
  await pass.write(
    [],
    uids.map((uid) => newSlot(uid)),
  );
  return pass;
}

/** Tests what every store guarantees for machines that are found in MAAS. */
export function testClusterStrayContract(t: Test, makeOptions: MakeOptions): void {
  const open = async (t: Test) => openOwnStore(t, await makeOptions(t));

  t.test("every slot that has or had a machine is found", async (t) => {
    const store = await open(t);
    const pass = await claimWithSlots(store, "a", "s1", "s2", "s3", "s4");
    await pass.write([
      { uid: "s1", from: "wanted", state: "candidate", candidateId: "m1" },
      { uid: "s2", from: "wanted", state: "candidate", candidateId: "m2" },
      { uid: "s3", from: "wanted", state: "allocated", candidateId: "m3", systemId: "m3" },
    ]);
    await pass.write([
      { uid: "s1", from: "candidate", state: "wanted", candidateId: null },
      { uid: "s3", from: "allocated", state: "released" },
    ]);
    const trace = async (systemIds: readonly string[], slotUids: readonly string[]) => {
      const { slots, candidates } = await store.run("clusters.trace", { systemIds, slotUids });
      return { slots: slots.map(({ uid, state }) => `${uid} ${state}`), candidates };
    };
    t.same(await trace(["m1", "m2", "m3", "m4"], ["s4"]), {
      slots: ["s2 candidate", "s3 released", "s4 wanted"],
      candidates: [
        { slotUid: "s3", systemId: "m3" },
        { slotUid: "s2", systemId: "m2" },
        { slotUid: "s1", systemId: "m1" },
      ],
    });
    await pass.write([{ uid: "s4", from: "wanted", state: "candidate", candidateId: "m1" }]);
    t.same((await trace(["m1"], [])).candidates, [
      { slotUid: "s4", systemId: "m1" },
      { slotUid: "s1", systemId: "m1" },
    ]);
    await pass.write([{ uid: "s1", from: "wanted", state: "candidate", candidateId: "m1" }]);
    await pass.write([{ uid: "s1", from: "candidate", state: "wanted", candidateId: null }]);
    t.same(
      (await trace(["m1"], [])).candidates.map(({ slotUid }) => slotUid),
      ["s1", "s4"],
      "each slot once, most recent first",
    );
    await pass.write([{ uid: "s4", from: "candidate", state: "wanted", candidateId: null }]);
    t.same((await trace(["m1"], [])).slots, []);
    t.same(await trace([], ["s1", "nobody"]), { slots: ["s1 wanted"], candidates: [] });
    t.same(await trace([], []), { slots: [], candidates: [] });
  });

  t.test("a machine is adopted into the cluster that it was deployed for", async (t) => {
    const store = await open(t);
    const adopt = (slot: AdoptedSlot) => store.run("clusters.adopt", { slot, message: "found again" });
    t.same(await adopt(stray), { ok: false, why: "notFound" });
    const pass = await claimWithPool(store, "a", "s1");
    t.same(await adopt({ ...stray, pool: "former" }), { ok: false, why: "notFound" });
    const { fenced } = pass;
    await store.run("clusters.settle", { fenced, status: "running", message: "", dueInMs: longMs });
    t.same(await adopt({ ...stray, clusterUid: "former" }), { ok: false, why: "notFound" });
    const seq = await headSeq(store);
    const calls = countCalls(store);
    const adopted = await adopt(stray);
    const slot = { ...stray, candidateId: "m9", message: "found again" };
    t.match(adopted, { ok: true, slot });
    t.equal(calls.count, 1);
    t.match((await store.run("clusters.get", { name: "a" }))?.slots, [{ uid: "s1" }, slot]);
    t.match(await store.run("clusters.machines", { name: "a" }), {
      events: [{ slotUid: "s9", systemId: "m9", state: "booted", message: "found again" }],
    });
    const reported = {
      id: "s9",
      cluster: "a",
      pool: "p",
      state: "booted",
      systemId: "m9",
      message: "found again",
    };
    t.match(await publishedBy(store, seq), [
      { type: "kubernetesMachine.changed", facts: { kubernetesMachine: reported } },
    ]);
    t.equal((await store.run("clusters.installation", {})).sequence, 40);
    t.equal((await claimPass(store)).cluster.name, "a", "the cluster is due immediately");
    const less = { ...stray, uid: "s10", systemId: "m10", sequence: 3 };
    t.match(await adopt(less), { ok: true, slot: { sequence: 3 } });
    t.equal((await store.run("clusters.installation", {})).sequence, 40, "no number is assigned twice");
  });

  t.test("a machine that a slot has, or may have, is not adopted", async (t) => {
    const store = await open(t);
    const pass = await claimWithPool(store, "a", "s1", "s2", "s3");
    await pass.write([
      { uid: "s1", from: "wanted", state: "candidate", candidateId: "m1" },
      { uid: "s2", from: "wanted", state: "allocated", candidateId: "m2", systemId: "m2" },
    ]);
    const adopt = (changes: Partial<AdoptedSlot>) =>
      store.run("clusters.adopt", { slot: { ...stray, ...changes } });
    const taken = { ok: false, why: "taken" } as const;
    t.same(await adopt({ systemId: "m1" }), taken);
    t.same(await adopt({ systemId: "m2" }), taken);
    t.same(await adopt({ uid: "s3" }), taken, "the slot may get another machine");
    t.equal((await store.run("clusters.installation", {})).sequence, 0);
    await pass.write([{ uid: "s2", from: "allocated", state: "released" }]);
    t.match(await adopt({ uid: "s2", systemId: "m2", cluster: "a" }), {
      ok: true,
      slot: { uid: "s2", state: "booted", systemId: "m2" },
    });
    t.same(await adopt({ uid: "s2", systemId: "m2" }), taken);
    const uids = (await store.run("clusters.get", { name: "a" }))?.slots.map(({ uid }) => uid);
    t.same(uids, ["s1", "s2", "s3"], "a slot that was released is reused");
    await store.run("clusters.change", { name: "a", uid: "a-uid", generation: 1, set: { isDeleting: true } });
    t.same(await adopt({}), { ok: false, why: "stopping" });
  });

  t.test("no machine is adopted into a full group, because another machine would have to go", async (t) => {
    const store = await open(t);
    const pass = await claimWithPool(store, "a", "c1");
    const adopt = (uid: string, changes: Partial<AdoptedSlot> = {}) =>
      store.run("clusters.adopt", { slot: { ...stray, uid, systemId: `of-${uid}`, ...changes } });
    const full = { ok: false, why: "full" } as const;
    await pass.write([], [newSlot("w1", { pool: "p" }), newSlot("w2", { pool: "p" })]);
    await pass.write([{ uid: "w1", from: "wanted", state: "deploying", systemId: "m1" }]);
    t.match(await adopt("s1"), { ok: true }, "a machine that is being installed can go");
    const both = await Promise.all([adopt("s2"), adopt("s3")]);
    t.same(both.map(({ ok }) => ok).toSorted(), [false, true]);
    t.same(
      both.filter(({ ok }) => !ok),
      [full],
    );
    t.same(await adopt("s4"), full);
    await pass.write([{ uid: "c1", from: "wanted", state: "deploying", systemId: "m2" }]);
    t.same(await adopt("s5", { pool: undefined }), full, "it may be a member of etcd");
    await pass.write([{ uid: "c1", from: "deploying", state: "releasing" }]);
    t.match(await adopt("s5", { pool: undefined }), { ok: true });
  });

  t.test("an adopted machine counts as booted from the start, also in a reused slot", async (t) => {
    const store = await open(t);
    const pass = await claimWithPool(store, "a", "s1");
    await pass.write([{ uid: "s1", from: "wanted", state: "booted", candidateId: "m1", systemId: "m1" }]);
    await pass.write([{ uid: "s1", from: "booted", state: "released" }]);
    const endMs = Date.now() + 2;
    while (Date.now() < endMs) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const adopted = await store.run("clusters.adopt", { slot: { ...stray, uid: "s1", systemId: "m1" } });
    const [slot] = (await store.run("clusters.get", { name: "a" }))?.slots ?? [];
    t.match(adopted, { ok: true, slot: { uid: "s1" } });
    t.ok(slot !== undefined && isAdopted(slot));
  });

  t.test("a machine that is adopted during a pass is part of the next pass", async (t) => {
    const store = await open(t);
    const pass = await claimWithPool(store, "a");
    await store.run("clusters.adopt", { slot: stray });
    const message = "1 of 1";
    await store.run("clusters.settle", { fenced: pass.fenced, status: "running", message, dueInMs: longMs });
    t.match((await claimPass(store)).slots, [{ uid: "s9" }]);
  });

  t.test("machines that were released long ago and old events are purged", async (t) => {
    const store = await open(t);
    const uids = ["s1", "s2", "s3"];
    const pass = await claimWithSlots(store, "a", ...uids, "s4");
    const allocate = (uid: string) =>
      ({ uid, from: "wanted", state: "allocated", candidateId: uid, systemId: uid }) as const;
    await pass.write([...uids, "s4"].map(allocate));
    await pass.write(uids.map((uid) => ({ uid, from: "allocated", state: "released" })));
    const purge = (keepMs: number, limit: number) => store.run("clusters.purge", { keepMs, limit });
    t.same(await purge(longMs, 10), { count: 0 }, "nothing is old enough");
    const old = -longMs;
    t.same(await purge(old, 2), { count: 2 });
    const left = await store.run("clusters.trace", { systemIds: [...uids, "s4"], slotUids: [] });
    t.equal(left.slots.length, 2);
    t.equal(left.candidates.length, 2);
    t.same(await purge(old, 2), { count: 2 });
    t.same(await purge(old, 2), { count: 0 });
    t.match(
      await store.run("clusters.machines", { name: "a" }),
      { slots: [{ uid: "s4", systemId: "s4" }], events: [] },
      "but never a current machine",
    );
  });

  t.test("all clusters of a removed MAAS are deleted, and none of another one", async (t) => {
    const store = await open(t);
    const pools = [{ name: "p", instanceType: "standard", labels: [], count: 1 }];
    const pass = await claimWithSlots(store, "a", "s1");
    await createCluster(store, "b", { pools });
    await createCluster(store, "c", { backend: "other", pools });
    await pass.write([{ uid: "s1", from: "wanted", candidateId: "m1" }]);
    await store.run("clusters.removeOf", { backend: "other" });
    t.match(await store.run("clusters.states", {}), [
      { cluster: { name: "a" }, slots: [{ uid: "s1" }] },
      { cluster: { name: "b", pools } },
    ]);
    await store.run("clusters.removeOf", { backend: "maas" });
    t.same(await store.run("clusters.list", {}), []);
    const traced = await store.run("clusters.trace", { systemIds: ["m1"], slotUids: ["s1"] });
    t.same(traced, { slots: [], candidates: [] });
    await createCluster(store, "b");
    t.match(await store.run("clusters.get", { name: "b" }), { cluster: { pools: [] } });
  });
}
