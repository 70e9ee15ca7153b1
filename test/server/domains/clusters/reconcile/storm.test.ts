import { setTimeout as wait } from "node:timers/promises";
import { test } from "tap";
import type { Fault, FaultMatch } from "../../../../../adapters/maas/fake/faults.ts";
import { isLongForm } from "../../../../long-form.ts";
import { createTestClusters, type TestClusters } from "./clusters-under-test.ts";

/** Number of gateway deaths after which the faults end. */
const mostDeaths = isLongForm ? Number.POSITIVE_INFINITY : 12;
const names = isLongForm ? ["a", "b", "c", "d", "e"] : ["a", "b"];

const matches: readonly FaultMatch[] = [
  { op: "allocate" },
  { op: "set_workload_annotations" },
  { op: "deploy" },
  { op: "release" },
  { path: "ipaddresses" },
  { method: "GET" },
];
const faults: readonly Fault[] = [
  { kind: "loseReply" },
  { kind: "cut" },
  { kind: "delay", ms: 150 },
  { kind: "answer", answer: { status: 503, text: "No rack controllers can access the BMC" } },
  { kind: "answer", answer: { status: 409, headers: { "retry-after": "0" }, text: "Try again" } },
];

function oneOf<T>(all: readonly T[]): T | undefined {
  return all[Math.floor(Math.random() * all.length)];
}

/** Cancels earlier faults that did not occur yet, so that they do not accumulate. */
function disturb({ maas, workload }: TestClusters): void {
  maas.fake.clearFaults();
  workload.fake.clearFaults();
  for (const match of [oneOf(matches), oneOf(matches)]) {
    const fault = oneOf(faults);
    if (match !== undefined && fault !== undefined) {
      maas.fake.inject(match, fault);
    }
  }
  workload.fake.inject({}, { kind: oneOf(["cut", "loseReply"] as const) ?? "cut" });
}

async function live(clusters: TestClusters, name: string): Promise<void> {
  await clusters.create(name, { controlPlane: oneOf([1, 1, 3]) ?? 1, pools: { web: 2 } });
  await clusters.untilRunning(name);
  await clusters.change(name, { scale: [{ name: "web", count: oneOf([1, 3]) ?? 1 }] });
  await clusters.untilRunning(name);
  await clusters.change(name, { set: { k8sVersion: "1.36.3", controlPlaneVersion: "1.36.3" } });
  await clusters.untilRunning(name);
  await clusters.change(name, { set: { isDeleting: true } });
  await clusters.untilGone(name);
}

test("clusters are created and deleted while gateways die and MAAS fails, and every machine belongs to a cluster or is free", async (t) => {
  const clusters = await createTestClusters(t, {
    machines: 36,
    settings: { leaseMs: 600 },
    patienceMs: 120_000,
  });
  let isOver = false;
  let deaths = 0;

  async function dieAgainAndAgain(): Promise<void> {
    while (!isOver && deaths < mostDeaths) {
      let left = 10 + Math.random() * 60;
      const doomed = clusters.startDoomed(() => !isOver && --left < 0);
      await Promise.race([doomed.stopped, over.promise]);
      deaths += 1;
    }
    if (!isOver) {
      // The store is shared: a gateway that considers itself the only one takes over other gateways' clusters at once.
      const { run, subscribe } = clusters.store;
      clusters.start({ store: { isShared: true, run, subscribe } });
    }
  }
  async function disturbAgainAndAgain(): Promise<void> {
    const failing = clusters.maas.fake.region.machines().slice(0, 4);
    for (const { systemId } of failing) {
      clusters.maas.fake.region.failNext(systemId);
    }
    while (!isOver && deaths < mostDeaths) {
      disturb(clusters);
      await wait(120);
    }
    clusters.maas.fake.clearFaults();
    clusters.workload.fake.clearFaults();
  }
  const over = Promise.withResolvers<void>();
  const trouble = Promise.all([dieAgainAndAgain(), dieAgainAndAgain(), disturbAgainAndAgain()]);
  try {
    await Promise.all(names.map((name) => live(clusters, name)));
  } finally {
    isOver = true;
    over.resolve();
    await trouble;
  }
  t.comment(`${deaths} deaths`);
  t.same(await clusters.differences(), []);
  const left = clusters.maas.fake.region.machines().filter(({ owner }) => owner !== undefined);
  t.same(left, []);
  t.equal(clusters.maas.fake.region.reservations.size, 0);
});
