import { test } from "tap";
import type { Fault, FaultMatch } from "../../../../../adapters/maas/fake/faults.ts";
import { createTestClusters, type TestClusters } from "./clusters-under-test.ts";

const changes: readonly FaultMatch[] = [
  { method: "POST", path: "ipaddresses", op: "reserve" },
  { method: "POST", op: "allocate" },
  { method: "POST", op: "set_workload_annotations" },
  { method: "POST", op: "deploy" },
  { method: "POST", op: "release" },
  { method: "POST", path: "ipaddresses", op: "release" },
];

/** Counts all installations of machines. */
function installations({ maas }: TestClusters): number {
  const { region } = maas.fake;
  return region
    .machines()
    .flatMap(({ systemId }) => region.events(systemId))
    .filter(({ type }) => type === "Deploying").length;
}

/** Creates a cluster, scales it down and deletes it, with faults. @returns the number of installations */
async function live(clusters: TestClusters): Promise<number> {
  await clusters.create("prod", { pools: { web: 2 } });
  await clusters.untilRunning("prod");
  const differences = [await clusters.differences()];
  await clusters.change("prod", { scale: [{ name: "web", count: 1 }] });
  await clusters.untilRunning("prod");
  differences.push(await clusters.differences());
  await clusters.change("prod", { set: { isDeleting: true } });
  await clusters.untilGone("prod");
  differences.push(await clusters.differences());
  if (differences.some((each) => each.length > 0)) {
    throw new Error(JSON.stringify(differences));
  }
  return installations(clusters);
}

async function withFault(clusters: TestClusters, fault: Fault): Promise<number> {
  for (const match of changes) {
    clusters.maas.fake.inject(match, fault);
  }
  clusters.start();
  return live(clusters);
}

for (const kind of ["loseReply", "cut"] as const) {
  test(`nothing is lost or done twice when calls to MAAS end by ${kind}`, async (t) => {
    const clusters = await createTestClusters(t);
    t.equal(await withFault(clusters, { kind, times: 2 }), 3, "each machine was installed once");
    t.equal(clusters.maas.fake.region.reservations.size, 0);
    t.ok(clusters.maas.fake.region.machines().every(({ status }) => status === "ready"));
  });
}

test("calls that MAAS temporarily rejects are retried", async (t) => {
  const busy = { status: 503, text: "No rack controllers can access the BMC" } as const;
  const conflict = { status: 409, headers: { "retry-after": "0" }, text: "Try again" } as const;
  for (const answer of [busy, conflict]) {
    const clusters = await createTestClusters(t);
    t.equal(await withFault(clusters, { kind: "answer", answer, times: 2 }), 3, `${answer.status}`);
  }
});

test("slow calls are waited for", async (t) => {
  const clusters = await createTestClusters(t);
  t.equal(await withFault(clusters, { kind: "delay", ms: 400, times: 3 }), 3);
});

test("a call that MAAS completes long after its timeout does no harm", async (t) => {
  const clusters = await createTestClusters(t);
  for (const op of ["set_workload_annotations", "deploy"]) {
    clusters.maas.fake.inject({ method: "POST", op }, { kind: "delay", ms: 3_200 });
  }
  clusters.start();
  t.equal(await live(clusters), 3);
});

test("when another user allocates a machine first, another machine is allocated", async (t) => {
  const clusters = await createTestClusters(t, { machines: 3 });
  const taken = { status: 409, text: "No machine with system ID mmmm33 available." } as const;
  clusters.maas.fake.inject(
    { method: "POST", op: "allocate", path: "machines/" },
    { kind: "answer", answer: taken, times: 2 },
  );
  t.equal(await withFault(clusters, { kind: "delay", ms: 1 }), 3);
});

test("a machine that cannot be installed is released and replaced; the second time it is marked as broken", async (t) => {
  const clusters = await createTestClusters(t, { machines: 3 });
  const { region } = clusters.maas.fake;
  const [first] = region.machines();
  const systemId = first?.systemId ?? "";
  region.failNext(systemId);
  clusters.start();
  await clusters.create("prod");
  const { slots } = await clusters.untilRunning("prod");
  t.not(slots[0]?.systemId, systemId);
  t.equal(region.machine(systemId)?.status, "ready");
  const known = await clusters.store.run("clusters.machines", { name: "prod" });
  const failures = known?.events.filter(({ isFailure }) => isFailure);
  t.same(
    failures?.map((event) => event.systemId),
    [systemId],
  );

  // Only this machine is left, and it fails again.
  region.failNext(systemId);
  await clusters.change("prod", {
    addPools: [{ name: "web", instanceType: "standard", labels: [], count: 2 }],
  });
  await clusters.until("prod", () => region.machine(systemId)?.status === "broken");
  t.match(region.events(systemId)[0], { type: "Marked broken", description: /could not install/ });
  await clusters.until("prod", ({ cluster }) => cluster.status === "degraded");
  t.same(await clusters.differences(), []);
});

test("a machine that never joins is released, and its node is removed", async (t) => {
  const clusters = await createTestClusters(t, { machines: 4, settings: { joinTimeoutMs: 4_000 } });
  const systemId = clusters.maas.fake.region.machines()[1]?.systemId ?? "";
  clusters.workload.fake.neverJoin(systemId);
  clusters.start();
  await clusters.create("prod", { pools: { web: 1 } });
  const { slots } = await clusters.untilRunning("prod");
  t.notOk(slots.some((slot) => slot.systemId === systemId));
  t.same(await clusters.differences(), []);
});

test("a first machine that never initializes the cluster is replaced", async (t) => {
  const clusters = await createTestClusters(t, { machines: 3, settings: { joinTimeoutMs: 4_000 } });
  const systemId = clusters.maas.fake.region.machines()[0]?.systemId ?? "";
  clusters.workload.fake.neverJoin(systemId);
  clusters.start();
  await clusters.create("prod", { controlPlane: 1, pools: { web: 1 } });
  const { slots } = await clusters.untilRunning("prod");
  t.notOk(slots.some((slot) => slot.pool === undefined && slot.systemId === systemId));
  t.equal(clusters.workload.fake.clusters().length, 1);
});

test("an installation aborted by an administrator is restarted", async (t) => {
  const clusters = await createTestClusters(t, {
    machines: 1,
    deployMs: Number.POSITIVE_INFINITY,
  });
  const { region } = clusters.maas.fake;
  clusters.start();
  await clusters.create("prod");
  const { slots } = await clusters.until("prod", ({ slots: [slot] }) => slot?.ipAddress !== undefined);
  const systemId = slots[0]?.systemId ?? "";
  await clusters.maas.admin.abort(systemId);
  const started = () => region.events(systemId).filter(({ type }) => type === "Deploying").length;
  await clusters.until("prod", () => started() === 2);
  region.finish(systemId);
  const after = await clusters.untilRunning("prod");
  t.equal(after.slots[0]?.uid, slots[0]?.uid);
  t.equal(started(), 2);
});

test("while the clock is wrong nothing is done and nothing is lost", async (t) => {
  const clusters = await createTestClusters(t);
  clusters.start();
  await clusters.create("prod", { pools: { web: 1 } });
  await clusters.untilRunning("prod");
  clusters.setClockOffset(400_000);
  await clusters.change("prod", { scale: [{ name: "web", count: 2 }] });
  const { cluster, slots } = await clusters.until("prod", ({ slots: all }) =>
    all.some(({ reason }) => reason === "MAAS_DENIED"),
  );
  t.match(slots.find(({ reason }) => reason === "MAAS_DENIED")?.message, "clock");
  t.equal(slots.filter(({ state }) => state === "joined").length, 2);
  t.equal(cluster.isDeleting, false);
  clusters.setClockOffset(0);
  await clusters.untilRunning("prod");
  t.same(await clusters.differences(), []);
});

test("during an outage of MAAS a cluster stays unchanged", async (t) => {
  const clusters = await createTestClusters(t);
  clusters.start();
  await clusters.create("prod", { pools: { web: 1 } });
  const before = await clusters.untilRunning("prod");
  clusters.maas.fake.setOutage(true);
  await clusters.until("prod", ({ cluster }) => cluster.message !== "");
  await clusters.change("prod", { set: { isDeleting: true } });
  await clusters.until("prod", ({ slots }) =>
    slots.every(({ state, attempts }) => state === "releasing" && attempts > 0),
  );
  clusters.maas.fake.setOutage(false);
  await clusters.untilGone("prod");
  t.equal(before.slots.length, 2);
  t.same(await clusters.differences(), []);
});

test("a version without an image in MAAS is reported, and can be corrected", async (t) => {
  const clusters = await createTestClusters(t, { machines: 1 });
  clusters.start();
  await clusters.create("prod", { version: "1.33.1" });
  const { cluster } = await clusters.until("prod", (state) => state.cluster.status === "error");
  t.match(cluster.message, /1\.33\.1/);
  await clusters.change("prod", { set: { k8sVersion: "1.34.8", controlPlaneVersion: "1.34.8" } });
  await clusters.untilRunning("prod");
});

test("missing machines are waited for, and allocated once they are available", async (t) => {
  const clusters = await createTestClusters(t, { machines: 2 });
  clusters.start();
  await clusters.create("prod", { pools: { web: 2 } });
  const { slots } = await clusters.until("prod", (state) =>
    state.slots.some(({ reason }) => reason === "NO_MACHINE"),
  );
  t.match(slots.find(({ reason }) => reason === "NO_MACHINE")?.message, "no free machine matches: standard");
  clusters.maas.fake.region.add({ systemId: "xxxxxx", hostname: "late", tags: ["standard"] });
  const after = await clusters.untilRunning("prod");
  t.ok(after.slots.some(({ systemId }) => systemId === "xxxxxx"));
});

test("many missing machines share searches in MAAS", async (t) => {
  const clusters = await createTestClusters(t, { machines: 1, settings: { pollMs: 2_000 } });
  clusters.start();
  await clusters.create("prod", { pools: { web: 30 } });
  await clusters.until(
    "prod",
    ({ slots }) => slots.filter(({ reason }) => reason === "NO_MACHINE").length === 30,
  );
  const requested = clusters.maas.fake.requests.filter(({ op }) => op === "allocate");
  t.ok(requested.length < 10, `${requested.length} times`);
});
