import { test } from "tap";
import { marksOf } from "../../../../../server/domains/clusters/reconcile/machines/machine-marks.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { reasonOf } from "../../../../adapters/host/reason-of.ts";
import { type StraysUnderTest, startStrays } from "./strays-under-test.ts";

interface Deployed {
  readonly cluster?: string;
  readonly clusterUid?: string;
  readonly pool?: string;
  readonly series?: string;
}

/** Deploys a machine marked as this gateway's that the store does not know. */
async function deployStray(under: StraysUnderTest, facts: Deployed = {}): Promise<string> {
  const { maas, store } = under;
  const { systemId } = await maas.choose({});
  await maas.allocate({ systemId, agentName: "lost" });
  const { installationId } = await store.run("clusters.installation", {});
  const {
    cluster = "prod",
    clusterUid = "prod-uid",
    pool,
    series = "os=ubuntu-noble,k8s=1.35.4,standard",
  } = facts;
  await maas.annotate(
    systemId,
    marksOf(installationId, { uid: `of-${systemId}`, cluster, clusterUid, pool, sequence: 7 }),
  );
  await maas.deploy(systemId, { series });
  maas.fake.region.finish(systemId);
  return systemId;
}

test("a machine that the account does not own is not a stray", async (t) => {
  const under = await startStrays(t);
  const { strays, maas } = under;
  const { systemId: free } = await maas.choose({});
  await maas.other.allocate({ systemId: free, agentName: "theirs" });
  const { systemId: ready } = await maas.choose({});
  for (const systemId of [free, ready, "y7y7y7"]) {
    for (const call of [strays.adopt, strays.release, strays.plan.adopt, strays.plan.release]) {
      await t.rejects(async () => void (await call(systemId)), {
        reason: "STRAY_NOT_FOUND",
        code: "NOT_FOUND",
        resource: `maas/machines/${systemId}`,
      });
    }
  }
  t.equal(await reasonOf(strays.adopt("../x")), "INVALID_FIELD");
  t.match(maas.fake.region.machine(free), { status: "allocated", owner: "sandbox-other" });
});

test("a machine is adopted only into the cluster that it was deployed for, with its original properties", async (t) => {
  const under = await startStrays(t);
  await under.createCluster("prod");
  const refused = async (systemId: string, message: RegExp) => {
    const facts = { reason: "STRAY_NOT_ADOPTABLE", code: "FAILED_PRECONDITION", message };
    await t.rejects(under.strays.adopt(systemId), facts);
    await t.rejects(under.strays.plan.adopt(systemId), facts);
    const { strays } = await under.strays.list();
    t.match(
      strays.find((stray) => stray.systemId === systemId),
      { isAdoptable: false },
    );
    await under.maas.release(systemId);
    under.maas.fake.region.finish(systemId);
  };
  await refused(await deployStray(under, { cluster: "test" }), /cluster test not found$/);
  await refused(await deployStray(under, { clusterUid: "old" }), /an earlier cluster named prod$/);
  await refused(await deployStray(under, { pool: "web" }), /cluster prod has no node pool web$/);
  await refused(
    await deployStray(under, { series: "noble" }),
    /an image that is not named as a Kubernetes image$/,
  );
  const { systemId: byHand } = await under.maas.choose({});
  await under.maas.allocate({ systemId: byHand, agentName: "by-hand" });
  await refused(byHand, /it has no annotations of this gateway$/);
  const going = await deployStray(under);
  const change = { name: "prod", uid: "prod-uid", generation: 1, set: { isDeleting: true } } as const;
  await under.store.run("clusters.change", change);
  await refused(going, /cluster prod is being deleted$/);
  t.same((await under.store.run("clusters.get", { name: "prod" }))?.slots, []);
});

test("a cluster on another MAAS is not the one that a machine was deployed for", async (t) => {
  const under = await startStrays(t);
  await under.createCluster("prod", { backend: "http://elsewhere:5240/MAAS" });
  await t.rejects(under.strays.adopt(await deployStray(under)), { message: /cluster prod not found$/ });
});

test("a control-plane machine is adopted", async (t) => {
  const under = await startStrays(t);
  await under.createCluster("prod", { controlPlane: { instanceType: "gpu", labels: [], count: 1 } });
  const systemId = await deployStray(under);
  t.match(await under.strays.adopt(systemId), {
    pool: undefined,
    instanceType: "gpu",
    state: "booted",
    sequence: 7,
  });
  const reported = await under.store.run("clusters.machines", { name: "prod" });
  t.match(reported?.events, [{ systemId, state: "booted", message: "adopted by an operator" }]);
});

test("a machine is not adopted if another would have to be removed for it", async (t) => {
  const under = await startStrays(t);
  const pools = [{ name: "web", instanceType: "standard", labels: [], count: 1 }];
  await under.createCluster("prod", { pools });
  const servers = [await deployStray(under), await deployStray(under)];
  const workers = [await deployStray(under, { pool: "web" }), await deployStray(under, { pool: "web" })];
  for (const [[first = "", second = ""], message] of [
    [
      servers,
      /the control plane already has its machine; release this one, or adopt it once one of them is gone$/,
    ],
    [workers, /node pool web already has its machine; scale it to 2 and adopt this one at once/],
  ] as const) {
    await under.strays.adopt(first);
    const facts = { reason: "STRAY_NOT_ADOPTABLE", code: "FAILED_PRECONDITION", message };
    await t.rejects(under.strays.adopt(second), facts);
    await t.rejects(under.strays.plan.adopt(second), facts);
    const { strays } = await under.strays.list();
    t.match(
      strays.find(({ systemId }) => systemId === second),
      { isAdoptable: false, message },
    );
  }
  await under.store.run("clusters.change", {
    name: "prod",
    uid: "prod-uid",
    generation: 1,
    scale: [{ name: "web", count: 2 }],
  });
  await under.addSlot("prod", "another", "web");
  await under.take("prod", "another", "annotated");
  t.match(await under.strays.adopt(workers[1] ?? ""), { pool: "web", state: "booted" });
});

test("a machine is not adopted into a place that another one gets concurrently", async (t) => {
  const before = await startStrays(t);
  await before.createCluster("prod");
  const [first, second] = [await deployStray(before), await deployStray(before)];
  const run: Store["run"] = (name, args) =>
    name === "clusters.adopt"
      ? before.strays.adopt(first).then(() => before.store.run(name, args))
      : before.store.run(name, args);
  const { strays } = await startStrays(t, { store: { ...before.store, run }, maas: before.maas });
  await t.rejects(strays.adopt(second), {
    reason: "STRAY_NOT_ADOPTABLE",
    message: /cluster prod got its machines in the meantime$/,
  });
});

test("an operator can release any stray, except a locked one", async (t) => {
  const under = await startStrays(t);
  const systemId = await deployStray(under);
  await under.maas.admin.lock(systemId);
  t.equal(await reasonOf(under.strays.release(systemId)), "MACHINE_LOCKED");
  t.equal(await reasonOf(under.strays.plan.release(systemId)), "MACHINE_LOCKED");
  await under.maas.admin.unlock(systemId);
  await under.strays.release(systemId);
  t.equal(under.maas.fake.region.machine(systemId)?.status, "releasing");
  t.match(await under.strays.list(), { strays: [{ systemId, maasStatus: "releasing" }] });
  await under.strays.release(systemId);
  under.maas.fake.region.finish(systemId);
  t.same((await under.strays.list()).strays, []);
});

test("dry runs describe the result, and change nothing", async (t) => {
  const under = await startStrays(t);
  await under.createCluster("prod");
  const systemId = await deployStray(under);
  const facts = { resource: `maas/machines/${systemId}`, backend: "http://sandbox.invalid/MAAS" };
  const { length } = under.maas.fake.requests;
  t.match(await under.strays.plan.adopt(systemId), {
    ...facts,
    kind: "clusters.adoptStray",
    plan: { changes: [`machine ${systemId} is added to the control plane of cluster prod`], losses: [] },
    steps: [{ name: "adopt" }],
  });
  t.match(await under.strays.plan.release(systemId), {
    ...facts,
    kind: "clusters.releaseStray",
    plan: {
      changes: [/, deployed\) is released to MAAS$/],
      losses: [`all data on the disks of machine ${systemId}`],
    },
    steps: [{ command: ["POST", `machines/${systemId}/?op=release`] }],
  });
  t.notOk(under.maas.fake.requests.slice(length).some(({ method }) => method !== "GET"));
  t.same((await under.store.run("clusters.get", { name: "prod" }))?.slots, []);
});
