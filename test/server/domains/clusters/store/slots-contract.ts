import type { Test } from "tap";
import { errorOf } from "../../../store/contract.ts";
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

/** Tests what every store guarantees for the machines of clusters. */
export function testClusterSlotContract(t: Test, makeOptions: MakeOptions): void {
  const open = async (t: Test) => openOwnStore(t, await makeOptions(t));

  t.test("a machine is recorded step by step, with an event for each new state", async (t) => {
    const store = await open(t);
    await createCluster(store, "a");
    const pass = await claimPass(store);
    const seq = await headSeq(store);
    const calls = countCalls(store);
    const labels = [{ name: "disk", value: "ssd ü" }];
    const [expected] = await pass.write([], [newSlot("s1", { pool: "p", labels })]);
    t.match(expected, {
      uid: "s1",
      cluster: "a",
      clusterUid: "a-uid",
      pool: "p",
      instanceType: "standard",
      labels,
      k8sVersion: "1.36.1",
      state: "wanted",
      candidateId: undefined,
      systemId: undefined,
      sequence: 0,
      attempts: 0,
      nextTryAtMs: 0,
    });
    await pass.write([
      { uid: "s1", from: "wanted", reason: "NO_MACHINE", message: "none", attempts: 2, nextTryInMs: longMs },
    ]);
    t.equal(calls.count, 1, "no event while it waits");
    const [waiting] = (await store.run("clusters.get", { name: "a" }))?.slots ?? [];
    t.match(waiting, { state: "wanted", reason: "NO_MACHINE", message: "none", attempts: 2 });
    t.ok(Math.abs(Number(waiting?.nextTryAtMs) - Date.now() - longMs) < 60_000);
    t.equal(waiting?.stateSinceMs, expected?.stateSinceMs);
    const taken = await pass.write([
      {
        uid: "s1",
        from: "wanted",
        state: "candidate",
        candidateId: "m1",
        takeSequence: true,
        message: "chosen",
      },
    ]);
    t.match(taken, [
      { state: "candidate", candidateId: "m1", systemId: undefined, sequence: 1, attempts: 2 },
    ]);
    await pass.write([
      { uid: "s1", from: "candidate", state: "allocated", systemId: "m1", hostname: "node-1" },
    ]);
    const [deployed] = await pass.write([
      { uid: "s1", from: "allocated", state: "deploying", ipAddress: "10.0.0.9", message: "", reason: "" },
    ]);
    t.match(deployed, {
      systemId: "m1",
      candidateId: "m1",
      hostname: "node-1",
      ipAddress: "10.0.0.9",
      message: "",
    });
    const machine = { id: "s1", cluster: "a", pool: "p" };
    t.same(
      (await publishedBy(store, seq)).map(({ topic, type, resource, facts }) => [
        topic,
        type,
        resource,
        facts,
      ]),
      [
        { ...machine, state: "wanted" },
        { ...machine, state: "candidate", message: "chosen" },
        { ...machine, state: "allocated", systemId: "m1", message: "chosen" },
        { ...machine, state: "deploying", systemId: "m1" },
      ].map((kubernetesMachine) => [
        "clusters",
        "kubernetesMachine.changed",
        "clusters/a/machines/s1",
        { kubernetesMachine },
      ]),
    );
    t.equal(calls.count, 4);
    await pass.write([{ uid: "s1", from: "deploying", systemId: null, candidateId: null }]);
    const [unset] = (await store.run("clusters.get", { name: "a" }))?.slots ?? [];
    t.match(unset, { systemId: undefined, candidateId: undefined, sequence: 1 });
  });

  t.test("a write is applied as a whole or not at all", async (t) => {
    const store = await open(t);
    const pass = await claimWithSlots(store, "a", "s1", "s2");
    const seq = await headSeq(store);
    const write = (change: Parameters<typeof pass.write>[0]) =>
      store.run("clusters.writeSlots", { fenced: pass.fenced, add: [newSlot("s3")], change });
    const good = {
      uid: "s1",
      from: "wanted",
      state: "candidate",
      candidateId: "m1",
      takeSequence: true,
    } as const;
    const before = await store.run("clusters.get", { name: "a" });
    t.same(await write([good, { uid: "s2", from: "joined", state: "draining" }]), { ok: false });
    t.same(await write([good, { uid: "nobody", from: "wanted" }]), { ok: false });
    t.same(
      await write([good, { ...good, state: "released" }]),
      { ok: false },
      "the first change has already left that state",
    );
    t.same(await store.run("clusters.get", { name: "a" }), before);
    t.equal(await headSeq(store), seq);
    t.equal((await store.run("clusters.installation", {})).sequence, 0);
    t.match(await write([good, { uid: "s1", from: "candidate", state: "allocated" }]), {
      ok: true,
      sequence: 1,
      slots: [{ uid: "s1", state: "allocated" }, { uid: "s2" }, { uid: "s3" }],
    });
  });

  t.test("a machine is in one slot at a time, across all clusters", async (t) => {
    const store = await open(t);
    const first = await claimWithSlots(store, "a", "s1");
    const second = await claimWithSlots(store, "b", "s2");
    await first.write([{ uid: "s1", from: "wanted", state: "allocated", systemId: "m1" }]);
    const take = { uid: "s2", from: "wanted", state: "allocated", systemId: "m1" } as const;
    t.equal((await errorOf(second.write([take], [newSlot("s3")]))).reason, "INTERNAL");
    t.match((await store.run("clusters.get", { name: "b" }))?.slots, [
      { uid: "s2", state: "wanted", systemId: undefined },
    ]);
    t.same(await first.write([{ uid: "s1", from: "allocated", state: "released" }]), []);
    t.match(await second.write([take]), [{ systemId: "m1" }]);
    const other = await store.run("clusters.writeSlots", {
      fenced: first.fenced,
      add: [],
      change: [{ uid: "s2", from: "allocated", state: "released" }],
    });
    t.same(other, { ok: false }, "machines of another cluster cannot be written");
  });

  t.test("sequence numbers of machines increase across clusters", async (t) => {
    const store = await open(t);
    const first = await claimWithSlots(store, "a", "s1", "s2");
    const second = await claimWithSlots(store, "b", "s3");
    const take = (uid: string) => ({ uid, from: "wanted", candidateId: uid, takeSequence: true }) as const;
    t.match(await first.write([take("s2"), take("s1")]), [{ sequence: 2 }, { sequence: 1 }]);
    t.match(await second.write([take("s3")]), [{ sequence: 3 }]);
    t.match(
      await first.write([take("s2")]),
      [{ sequence: 2 }, { sequence: 4 }],
      "also when a slot takes a number again",
    );
    t.equal((await store.run("clusters.installation", {})).sequence, 4);
  });

  t.test("a released machine stays on record and can no longer change", async (t) => {
    const store = await open(t);
    const pass = await claimWithSlots(store, "a", "s1", "s2");
    await pass.write([{ uid: "s1", from: "wanted", state: "allocated", systemId: "m1", candidateId: "m1" }]);
    await pass.write([{ uid: "s1", from: "allocated", state: "released", message: "done" }]);
    const change = [{ uid: "s1", from: "released", state: "wanted" }] as const;
    t.same(await store.run("clusters.writeSlots", { fenced: pass.fenced, add: [], change }), { ok: false });
    t.match(await store.run("clusters.machines", { name: "a" }), {
      slots: [
        { uid: "s1", state: "released", systemId: "m1", candidateId: "m1", message: "done" },
        { uid: "s2", state: "wanted" },
      ],
    });
    t.match((await store.run("clusters.get", { name: "a" }))?.slots, [{ uid: "s2" }]);
    t.equal(await store.run("clusters.machines", { name: "b" }), undefined);
  });

  t.test("a cluster returns its most recently released machines, and all of the current ones", async (t) => {
    const store = await open(t);
    const pass = await claimWithSlots(store, "a", "old");
    const uids = Array.from({ length: 230 }, (_, index) => `s${index}`);
    await pass.write(
      [],
      uids.map((uid) => newSlot(uid)),
    );
    await pass.write(
      uids.slice(0, 210).map((uid) => ({
        uid,
        from: "wanted",
        state: "released",
        history: { message: `end of ${uid}` },
      })),
    );
    const found = await store.run("clusters.machines", { name: "a" });
    t.same(
      found?.slots.map(({ uid }) => uid),
      ["old", ...uids.slice(10)],
    );
    t.same(
      found?.events.map(({ slotUid }) => slotUid),
      uids.slice(10, 210),
    );
  });

  t.test("the history of machines is in order, with failures that the machine caused", async (t) => {
    const store = await open(t);
    const pass = await claimWithSlots(store, "a", "s1");
    await pass.write([
      { uid: "s1", from: "wanted", state: "candidate", candidateId: "m1", message: "chosen" },
    ]);
    await pass.write([{ uid: "s1", from: "candidate", state: "wanted", candidateId: null, message: "lost" }]);
    await pass.write([
      {
        uid: "s1",
        from: "wanted",
        state: "candidate",
        candidateId: "m2",
        history: { message: "chosen next" },
      },
    ]);
    await pass.write([
      { uid: "s1", from: "candidate", state: "deploying", systemId: "m2", message: "begun" },
    ]);
    await pass.write([
      {
        uid: "s1",
        from: "deploying",
        state: "releasing",
        message: "it has failed",
        history: { message: "the installation has failed", isFailure: true },
      },
    ]);
    const event = { slotUid: "s1", isFailure: false };
    const { events = [] } = (await store.run("clusters.machines", { name: "a" })) ?? {};
    t.same(
      events.map(({ atMs, ...rest }) => rest),
      [
        { ...event, systemId: "m1", state: "candidate", message: "chosen" },
        { ...event, systemId: "m2", state: "candidate", message: "chosen next" },
        {
          ...event,
          systemId: "m2",
          state: "releasing",
          message: "the installation has failed",
          isFailure: true,
        },
      ],
      "candidates are recorded even without a message, to recognize the machine later",
    );
    t.ok(events.every(({ atMs }) => Math.abs(Date.now() - atMs) < 60_000));
    const failures = (systemIds: readonly string[], sinceMsAgo: number) =>
      store.run("clusters.failures", { systemIds, sinceMsAgo });
    await pass.write([{ uid: "s1", from: "releasing", history: { message: "again", isFailure: true } }]);
    t.same(await failures(["m1", "m2", "m3"], longMs), [{ systemId: "m2", count: 2 }]);
    t.same(await failures(["m2"], -longMs), [], "none after an hour from now");
    t.same(await failures([], longMs), []);
  });
}
