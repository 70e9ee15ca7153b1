import { test } from "tap";
import type { MaasSandbox } from "../../../../../adapters/maas/sandbox.ts";
import { marksOf } from "../../../../../server/domains/clusters/reconcile/machines/machine-marks.ts";
import { reasonOf } from "../../../../adapters/host/reason-of.ts";
import { agentName, leaveTombstone, loseCandidate, statusOf } from "./lost-machines.ts";
import { startStrays } from "./strays-under-test.ts";

test("a machine whose allocation came late is released once its slot has another one", async (t) => {
  const under = await startStrays(t);
  await under.createCluster("prod");
  await under.addSlot("prod", "s1");
  const late = await loseCandidate(under, "s1");
  await under.maas.admin.allocate({ systemId: late, agentName: "away" });
  const own = await under.take("prod", "s1", "joined");
  await under.maas.admin.release(late);
  await under.maas.allocate({ systemId: late, agentName: await agentName(under, "s1") });
  t.same(await under.strays.list(), {
    strays: [
      {
        systemId: late,
        hostname: under.maas.fake.region.machine(late)?.hostname,
        maasStatus: "allocated",
        cluster: undefined,
        pool: undefined,
        isOurs: true,
        isAdoptable: false,
        message: `cluster prod has machine ${own} in its place; it is released automatically`,
      },
    ],
    reportOnlyBecause: undefined,
  });
  await under.sweep();
  t.equal(statusOf(under.maas, late), "ready");
  t.equal(statusOf(under.maas, own), "deployed");
  t.match(under.log, [`machine ${late} is released to MAAS: cluster prod has machine ${own} in its place`]);
  t.same((await under.strays.list()).strays, []);
});

test("it is also released when its slot is released, or waits for a machine", async (t) => {
  const under = await startStrays(t);
  await under.createCluster("prod");
  await under.addSlot("prod", "s1");
  const first = await loseCandidate(under, "s1");
  await under.maas.allocate({ systemId: first, agentName: await agentName(under, "s1") });
  await under.sweep();
  t.equal(statusOf(under.maas, first), "ready");
  await under.writeSlots("prod", { uid: "s1", from: "wanted", state: "released" });
  await under.maas.allocate({ systemId: first, agentName: await agentName(under, "s1") });
  await under.sweep();
  t.equal(statusOf(under.maas, first), "ready");
});

test("a candidate that is allocated under another user's agent name is kept", async (t) => {
  const under = await startStrays(t);
  await under.createCluster("prod");
  await under.addSlot("prod", "s1");
  const systemId = await loseCandidate(under, "s1");
  await under.maas.allocate({ systemId, agentName: "by-hand" });
  await under.sweep();
  t.equal(statusOf(under.maas, systemId), "allocated");
  t.match((await under.strays.list()).strays, [{ systemId, isOurs: false, isAdoptable: false }]);
});

test("a machine of a released slot is released, but not once it is installed", async (t) => {
  const under = await startStrays(t);
  await under.createCluster("prod");
  await under.addSlot("prod", "s1");
  const systemId = await leaveTombstone(under);
  await under.maas.deploy(systemId, { series: "noble" });
  await under.sweep();
  t.equal(statusOf(under.maas, systemId), "deploying");
  under.maas.fake.region.finish(systemId);
  await under.sweep();
  await under.sweep();
  t.equal(statusOf(under.maas, systemId), "deployed");
  const why = "belongs to no cluster: cluster prod no longer needs it; it cannot be adopted";
  t.match(under.log, [
    `machine ${systemId} (deploying) ${why}: it is not deployed`,
    `machine ${systemId} (deployed) ${why}: it was deployed with an image that is not named as a Kubernetes image`,
  ]);
  t.equal(under.log.length, 2, "each is logged once");
  await under.strays.release(systemId);
  under.maas.fake.region.finish(systemId);
  t.equal(statusOf(under.maas, systemId), "ready");
});

test("an allocated machine of a released slot is released", async (t) => {
  const under = await startStrays(t);
  await under.createCluster("prod");
  await under.addSlot("prod", "s1");
  const systemId = await leaveTombstone(under);
  await under.sweep();
  t.equal(statusOf(under.maas, systemId), "ready");
});

test("machines of live slots are not touched, in any state", async (t) => {
  const under = await startStrays(t);
  await under.createCluster("prod");
  const untils = ["candidate", "allocated", "annotated", "joined"] as const;
  const systemIds: string[] = [];
  for (const until of untils) {
    await under.addSlot("prod", until);
    const systemId = await under.take("prod", until, until);
    if (until === "candidate") {
      // The response was lost.
      await under.maas.allocate({ systemId, agentName: await agentName(under, until) });
    }
    systemIds.push(systemId);
  }
  await under.sweep();
  t.same(
    systemIds.map((systemId) => statusOf(under.maas, systemId)),
    ["allocated", "allocated", "allocated", "deployed"],
  );
  t.same(await under.strays.list(), { strays: [], reportOnlyBecause: undefined });
  for (const systemId of systemIds) {
    t.equal(await reasonOf(under.strays.release(systemId)), "MACHINE_IN_USE");
    t.equal(await reasonOf(under.strays.adopt(systemId)), "MACHINE_IN_USE");
  }
  t.same(under.log, []);
});

test("machines of the account that are not this gateway's, and machines of other accounts, are not touched", async (t) => {
  const under = await startStrays(t);
  const { maas } = under;
  const take = async (account: MaasSandbox["other"] | MaasSandbox) => {
    const { systemId } = await account.choose({});
    await account.allocate({ systemId, agentName: "by-hand" });
    return systemId;
  };
  const [byHand, anothers, theirs, half] = [
    await take(maas),
    await take(maas),
    await take(maas.other),
    await take(maas),
  ];
  const slot = { uid: "x", cluster: "prod", clusterUid: "u", pool: undefined, sequence: 9 };
  const marks = marksOf("fedcba9876543210", slot);
  await maas.annotate(anothers, marks);
  await maas.annotate(half, { "hostplane-slot": "x" });
  const { length: requested } = maas.fake.requests;
  await under.sweep();
  t.notOk(maas.fake.requests.slice(requested).some(({ method }) => method !== "GET"));
  const { strays, reportOnlyBecause } = await under.strays.list();
  t.equal(reportOnlyBecause, undefined);
  t.match(
    new Map(strays.map((stray) => [stray.systemId, stray])),
    new Map([
      [byHand, { isOurs: false, isAdoptable: false, cluster: undefined }],
      [anothers, { isOurs: false, isAdoptable: false, cluster: "prod" }],
      [half, { isOurs: false, isAdoptable: false, cluster: undefined }],
    ]),
  );
  t.equal(strays.length, 3);
  t.equal(statusOf(maas, theirs), "allocated");
});

test("a release that MAAS rejects does not prevent the release of other machines", async (t) => {
  const under = await startStrays(t);
  await under.createCluster("prod");
  const lost: string[] = [];
  for (const uid of ["s1", "s2"]) {
    await under.addSlot("prod", uid);
    const systemId = await loseCandidate(under, uid);
    await under.maas.allocate({ systemId, agentName: await agentName(under, uid) });
    lost.push(systemId);
  }
  const refusal = { status: 500, text: "" };
  under.maas.fake.inject({ op: "release" }, { kind: "answer", answer: refusal });
  await under.sweep();
  t.same(lost.map((systemId) => statusOf(under.maas, systemId)).toSorted(), ["allocated", "ready"]);
  t.match(under.log, [/failed to release stray machine .*: /, /is released to MAAS/]);
  await under.sweep();
  t.same(
    lost.map((systemId) => statusOf(under.maas, systemId)),
    ["ready", "ready"],
  );
});

test("the search starts at once, continues after an outage of MAAS, and ends on request", async (t) => {
  const under = await startStrays(t, { sweepMs: 10 });
  await under.createCluster("prod");
  await under.addSlot("prod", "s1");
  const systemId = await leaveTombstone(under);
  under.maas.fake.inject({ op: "whoami" }, { kind: "answer", answer: { status: 500, text: "" } });
  const released = under.nextLog(/is released to MAAS/);
  const activity = under.strays.begin();
  await released;
  await activity.close();
  t.equal(statusOf(under.maas, systemId), "ready");
  t.match(under.log, [/the search for stray machines failed/, /is released to MAAS/]);
  const { length } = under.maas.fake.requests;
  await under.maas.whoami();
  t.equal(under.maas.fake.requests.length, length + 1);
});

test("for a machine that many slots had as a candidate only the newest agent names are searched", async (t) => {
  const under = await startStrays(t);
  const uids = Array.from({ length: 25 }, (_, index) => `s${index}`);
  await under.createCluster("prod");
  let systemId = "";
  for (const uid of uids) {
    await under.addSlot("prod", uid);
    systemId = await loseCandidate(under, uid);
  }
  await under.maas.allocate({ systemId, agentName: "by-hand" });
  const requested = async () => {
    const { length } = under.maas.fake.requests;
    const found = await under.strays.list();
    const requests = under.maas.fake.requests.slice(length);
    return { found, count: requests.filter(({ query }) => query.has("agent_name")).length };
  };
  const { found, count } = await requested();
  t.match(found.strays, [{ systemId, isOurs: false }]);
  t.equal(count, 20);
  await under.maas.release(systemId);
  await under.maas.allocate({ systemId, agentName: await agentName(under, "s24") });
  t.equal((await requested()).count, 1, "the newest comes first");
});
