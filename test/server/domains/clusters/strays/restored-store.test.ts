import { type Test, test } from "tap";
import {
  agentNameOf,
  marksFrom,
} from "../../../../../server/domains/clusters/reconcile/machines/machine-marks.ts";
import { databaseFile } from "../../../../../server/store/open-store.ts";
import { reasonOf } from "../../../../adapters/host/reason-of.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import { makeDirectory } from "../../../store/store-under-test.ts";
import { type StraysUnderTest, startStrays } from "./strays-under-test.ts";

/** Copies the store, continues with the original, and then with the copy only. */
async function restore(
  t: Test,
  before: StraysUnderTest,
  afterBackup: () => Promise<void>,
): Promise<StraysUnderTest> {
  const directory = await makeDirectory(t);
  await before.store.backup(databaseFile(directory));
  await afterBackup();
  await before.store.close();
  return startStrays(t, { store: await openOwnStore(t, { directory }), maas: before.maas });
}

function statusesOf({ maas }: StraysUnderTest, systemIds: readonly string[]) {
  return systemIds.map((systemId) => maas.fake.region.machine(systemId)?.status);
}

test("with a store restored from a backup nothing is released until all machines are adopted or released", async (t) => {
  const before = await startStrays(t);
  await before.createCluster("prod", {
    pools: [{ name: "web", instanceType: "gpu", labels: [{ name: "tier", value: "web" }], count: 2 }],
  });
  await before.addSlot("prod", "known");
  const known = await before.take("prod", "known", "joined");
  await before.addSlot("prod", "lost");
  const late = await before.take("prod", "lost", "candidate");
  await before.writeSlots("prod", { uid: "lost", from: "candidate", state: "released" });
  const taken: string[] = [];
  const after = await restore(t, before, async () => {
    const { installationId } = await before.store.run("clusters.installation", {});
    await before.maas.allocate({ systemId: late, agentName: agentNameOf(installationId, "lost") });
    for (const [uid, until] of [
      ["s1", "joined"],
      ["s2", "annotated"],
    ] as const) {
      await before.addSlot("prod", uid, "web");
      taken.push(await before.take("prod", uid, until));
    }
  });
  const [deployed = "", annotated = ""] = taken;
  await after.sweep();
  await after.sweep();
  t.same(statusesOf(after, [known, deployed, annotated, late]), [
    "deployed",
    "deployed",
    "allocated",
    "allocated",
  ]);
  const reason = /older than MAAS.* has no record of .*; adopt or release them/;
  t.match(after.log[0], reason);
  t.equal(after.log.length, 4, "the mode and each of the three are logged once");
  const { strays, reportOnlyBecause } = await after.strays.list();
  t.match(reportOnlyBecause, reason);
  for (const systemId of taken) {
    t.match(reportOnlyBecause, systemId);
  }
  t.match(
    new Map(strays.map((stray) => [stray.systemId, stray])),
    new Map([
      [
        deployed,
        {
          cluster: "prod",
          pool: "web",
          isOurs: true,
          isAdoptable: true,
          message: "this gateway allocated it, but its database has no record of that",
        },
      ],
      [annotated, { isOurs: true, isAdoptable: false, message: /cannot be adopted: it is not deployed$/ }],
      [late, { isOurs: true, isAdoptable: false, message: /^cluster prod no longer needs it; it cannot/ }],
    ]),
  );

  const adopted = await after.strays.adopt(deployed);
  t.match(adopted, {
    uid: "s1",
    cluster: "prod",
    pool: "web",
    instanceType: "gpu",
    labels: [{ name: "tier", value: "web" }],
    k8sVersion: "1.35.4",
    state: "booted",
    systemId: deployed,
    hostname: after.maas.fake.region.machine(deployed)?.hostname,
    ipAddress: after.maas.fake.region.machine(deployed)?.address,
  });
  t.equal(await reasonOf(after.strays.adopt(deployed)), "MACHINE_IN_USE");
  t.same(
    (await after.store.run("clusters.get", { name: "prod" }))?.slots.map(({ uid }) => uid),
    ["known", "s1"],
  );
  await after.sweep();
  t.same(statusesOf(after, [annotated, late]), ["allocated", "allocated"], "one is still unexplained");
  await after.strays.release(annotated);
  await after.sweep();
  t.same(statusesOf(after, [known, deployed, annotated, late]), ["deployed", "deployed", "ready", "ready"]);
  t.same(await after.strays.list(), { strays: [], reportOnlyBecause: undefined });
});

test("after an adoption the store assigns higher sequence numbers than any before", async (t) => {
  const before = await startStrays(t);
  await before.createCluster("prod");
  let machine = "";
  const after = await restore(t, before, async () => {
    for (const uid of ["s1", "s2", "s3"]) {
      await before.addSlot("prod", uid);
      machine = await before.take("prod", uid, "joined");
    }
  });
  await after.strays.adopt(machine);
  await after.addSlot("prod", "s4");
  await after.take("prod", "s4", "joined");
  const slots = (await after.store.run("clusters.get", { name: "prod" }))?.slots ?? [];
  t.same(
    slots.map(({ uid, sequence }) => [uid, sequence]),
    [
      ["s3", 3],
      ["s4", 4],
    ],
  );
  const { strays, reportOnlyBecause } = await after.strays.list();
  t.equal(strays.length, 2);
  t.match(reportOnlyBecause, /has no record of/, "the lower numbers of the others explain nothing");
});

test("a machine whose slot waits for another one in the store is adopted under a new id", async (t) => {
  const before = await startStrays(t);
  await before.createCluster("prod");
  await before.addSlot("prod", "s1");
  let machine = "";
  const after = await restore(t, before, async () => {
    machine = await before.take("prod", "s1", "joined");
  });
  t.match(await after.strays.list(), {
    strays: [
      { systemId: machine, isAdoptable: true, message: "cluster prod has no machine yet in its place" },
    ],
    reportOnlyBecause: machine,
  });
  t.match(await after.strays.plan.adopt(machine), { steps: [{ name: "mark" }, { name: "adopt" }] });
  const adopted = await after.strays.adopt(machine);
  t.not(adopted.uid, "s1");
  t.match(adopted.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  const { annotations } = await after.maas.machine(machine);
  t.match(marksFrom(annotations), { slotUid: adopted.uid, cluster: "prod", sequence: 1 });
  t.same(await after.strays.list(), { strays: [], reportOnlyBecause: undefined });
});

test("an adoption that is interrupted between its two steps can be repeated", async (t) => {
  const before = await startStrays(t);
  await before.createCluster("prod");
  await before.addSlot("prod", "s1");
  let machine = "";
  const after = await restore(t, before, async () => {
    machine = await before.take("prod", "s1", "joined");
  });
  after.maas.fake.inject({ op: "set_workload_annotations" }, { kind: "loseReply" });
  t.equal(await reasonOf(after.strays.adopt(machine)), "MAAS_UNAVAILABLE");
  const named = marksFrom((await after.maas.machine(machine)).annotations)?.slotUid;
  t.not(named, "s1", "it was written nevertheless");
  t.match(await after.strays.list(), { strays: [{ systemId: machine, isAdoptable: true }] });
  t.match(await after.strays.adopt(machine), { uid: named, systemId: machine });
});

test("of two concurrent adoptions of a machine one succeeds, and its marks match the store", async (t) => {
  const before = await startStrays(t);
  await before.createCluster("prod");
  await before.addSlot("prod", "s1");
  let machine = "";
  const after = await restore(t, before, async () => {
    machine = await before.take("prod", "s1", "joined");
  });
  const other = await startStrays(t, after);
  const adoptions = [after, other].map(({ strays }) => strays.adopt(machine));
  const outcomes = await Promise.allSettled(adoptions);
  const adopted = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? outcome.value : []));
  const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? outcome.reason : []));
  // The second finds the machine in use, or its place filled.
  t.match(refused, [{ reason: /^(MACHINE_IN_USE|STRAY_NOT_ADOPTABLE)$/ }]);
  const { annotations } = await after.maas.machine(machine);
  t.match(adopted, [{ uid: marksFrom(annotations)?.slotUid }]);
});
