import { test } from "tap";
import type { Store } from "../../../../../server/store/store.ts";
import { createTestClusters, type TestClusters } from "./clusters-under-test.ts";

/** Counts all installations of machines. */
function installations({ maas }: TestClusters): number {
  const { region } = maas.fake;
  return region
    .machines()
    .flatMap(({ systemId }) => region.events(systemId))
    .filter(({ type }) => type === "Deploying").length;
}

function changesOf({ maas, workload }: TestClusters): number {
  const ofMaas = maas.fake.requests.filter(
    ({ method, op, form }) => method === "POST" && !(op === "allocate" && form?.has("dry_run")),
  );
  return ofMaas.length + workload.fake.requests.filter(({ method }) => method !== "GET").length;
}

async function live(clusters: TestClusters): Promise<void> {
  await clusters.create("prod", { pools: { web: 2 } });
  await clusters.untilRunning("prod");
  await clusters.change("prod", { scale: [{ name: "web", count: 1 }] });
  await clusters.untilRunning("prod");
  await clusters.change("prod", { set: { isDeleting: true } });
  await clusters.untilGone("prod");
}

test("a gateway that dies at any point of its work is replaced by another one, and nothing is lost", async (t) => {
  const clusters = await createTestClusters(t, { settings: { leaseMs: 400 } });
  const deadly = new Set<string>();
  let isOver = false;

  async function dieAgainAndAgain(): Promise<void> {
    while (!isOver) {
      const doomed = clusters.startDoomed(
        (point) => !isOver && !deadly.has(point) && deadly.add(point).size > 0,
      );
      await Promise.race([doomed.stopped, over.promise]);
    }
  }
  const over = Promise.withResolvers<void>();
  const dying = dieAgainAndAgain();
  await live(clusters);
  isOver = true;
  over.resolve();
  await dying;

  t.same(await clusters.differences(), []);
  t.ok(clusters.maas.fake.region.machines().every(({ status }) => status === "ready"));
  t.equal(clusters.maas.fake.region.reservations.size, 0);
  t.equal(installations(clusters), 3, "each machine was installed once");
  const points = [...deadly].toSorted();
  for (const call of [
    "maas.allocate",
    "maas.annotate",
    "maas.deploy",
    "maas.release",
    "workload.drain",
    "forget",
  ]) {
    t.ok(points.includes(`before ${call}`), `died before ${call}`);
    t.ok(points.includes(`after ${call}`), `died after ${call}`);
  }
  t.ok(points.length > 35, `died at ${points.length} points`);
});

for (const point of [
  "maas.allocate",
  "maas.annotate",
  "maas.deploy",
  "maas.release",
  "workload.writeSecret",
]) {
  test(`a gateway that freezes before ${point} does no harm when it resumes`, async (t) => {
    const clusters = await createTestClusters(t, { settings: { leaseMs: 500 } });
    const frozen = clusters.startDoomed((each) => each === `before ${point}`);
    await clusters.create("prod", { pools: { web: 1 } });
    if (point === "maas.release") {
      await clusters.untilRunning("prod");
      await clusters.change("prod", { set: { isDeleting: true } });
    }
    await frozen.stopped;
    const { run, subscribe } = clusters.store;
    const other = clusters.start({ store: { isShared: true, run, subscribe } });
    await (point === "maas.release" ? clusters.untilGone("prod") : clusters.untilRunning("prod"));
    await other.close();
    const before = changesOf(clusters);
    const state = await clusters.state("prod");
    await frozen.thaw();
    t.equal(changesOf(clusters), before, "nothing was changed after that");
    t.same(
      (await clusters.state("prod"))?.slots.map(({ uid, state: at }) => [uid, at]),
      state?.slots.map(({ uid, state: at }) => [uid, at]),
    );
    t.same(await clusters.differences(), []);
    t.equal(installations(clusters), 2);
  });
}

test("two gateways share the work, and no machine is allocated twice", async (t) => {
  const clusters = await createTestClusters(t, { machines: 16 });
  const points = [0, 0];
  const worked = points.map(() => Promise.withResolvers<void>());
  for (const [index, own] of worked.entries()) {
    const other = worked[1 - index];
    // On a busy machine one of them may be the first at every claim. The first gateway claims nothing more until the second one
    // has worked, and the second one nothing until the first one has.
    const run: Store["run"] = async (name, ...args) => {
      if (name === "clusters.claim" && (index === 1 || (points[index] ?? 0) > 0)) {
        await other?.promise;
      }
      return clusters.store.run(name, ...args);
    };
    clusters.start({
      store: { isShared: true, run, subscribe: clusters.store.subscribe },
      boundary: () => {
        points[index] = (points[index] ?? 0) + 1;
        own.resolve();
      },
    });
  }
  const names = ["a", "b", "c", "d"];
  await Promise.all(names.map((name) => clusters.create(name, { pools: { web: 2 } })));
  await Promise.all(names.map((name) => clusters.untilRunning(name)));
  t.same(await clusters.differences(), []);
  t.equal(installations(clusters), 12);
  t.ok(
    points.every((count) => count > 0),
    `both have worked: ${points}`,
  );
  await Promise.all(names.map((name) => clusters.change(name, { set: { isDeleting: true } })));
  await Promise.all(names.map((name) => clusters.untilGone(name)));
  t.ok(clusters.maas.fake.region.machines().every(({ status }) => status === "ready"));
});

test("a gateway that stops releases its clusters, and another one continues at once", async (t) => {
  const clusters = await createTestClusters(t, { deployMs: 300 });
  const first = clusters.start();
  await clusters.create("prod", { pools: { web: 1 } });
  await clusters.until("prod", ({ slots }) => slots.some(({ state }) => state === "deploying"));
  await first.close();
  clusters.start();
  await clusters.untilRunning("prod");
  t.same(await clusters.differences(), []);
  t.equal(installations(clusters), 2);
});
