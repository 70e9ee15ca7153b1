import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type Test, test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { MaasAdapter } from "../../../../../adapters/maas/adapter.ts";
import type { MaasMachine, MaasMachineFilter } from "../../../../../adapters/maas/machine.ts";
import { maasReasons } from "../../../../../adapters/maas/reasons.ts";
import { readAccount } from "../../../../../server/domains/clusters/reconcile/read-account.ts";
import { databaseFile } from "../../../../../server/store/open-store.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import { makeDirectory } from "../../../store/store-under-test.ts";
import { type ClusterState, createTestClusters, type TestClusters } from "./clusters-under-test.ts";

const newer = { set: { k8sVersion: "1.36.3", controlPlaneVersion: "1.36.3" } };

const isListOfAccount = ({ agentName }: MaasMachineFilter) => agentName === undefined;

/** The same MAAS, but some lists are empty or fail; single machines can be read. */
function blindMaas(
  { maas }: { readonly maas: MaasAdapter },
  isUnseen: (filter: MaasMachineFilter) => boolean,
  { fails = false } = {},
): MaasAdapter {
  return {
    ...maas,
    async machines(filter = {}, signal) {
      if (!isUnseen(filter)) {
        return maas.machines(filter, signal);
      }
      if (fails) {
        throw new InfraError(maasReasons.MAAS_UNAVAILABLE, "MAAS answers 503 to lists");
      }
      return [];
    },
  };
}

/** The same MAAS, but without the addresses of machines, as when MAAS does not assign them. */
function withoutAddresses(maas: MaasAdapter): MaasAdapter {
  const hide = (machine: MaasMachine): MaasMachine => ({ ...machine, ipAddresses: [] });
  return {
    ...maas,
    machine: async (systemId, signal) => hide(await maas.machine(systemId, signal)),
    machines: async (filter, signal) => (await maas.machines(filter, signal)).map(hide),
  };
}

function eventsOf({ maas }: TestClusters, expected: string): number {
  const { region } = maas.fake;
  return region
    .machines()
    .flatMap(({ systemId }) => region.events(systemId))
    .filter(({ type }) => type === expected).length;
}

/** Returns the names of the cluster's etcd members. */
function membersOf({ workload }: TestClusters): readonly string[] {
  return (workload.fake.cluster("prod")?.members ?? []).map(({ name }) => name).toSorted();
}

function serversOf({ slots }: ClusterState): readonly string[] {
  return slots.flatMap(({ pool, hostname }) => (pool === undefined ? [hostname ?? ""] : [])).toSorted();
}

for (const count of [1, 3]) {
  test(`a control plane of ${count} is upgraded while MAAS lists no machines, and leaves no etcd member behind`, async (t) => {
    const clusters = await createTestClusters(t, { machines: count + 2 });
    const first = clusters.start();
    await clusters.create("prod", { controlPlane: count });
    await clusters.untilRunning("prod");
    await first.close();

    let checks = 0;
    const dead = new Set<string>();
    clusters.start({
      maas: blindMaas(clusters, isListOfAccount),
      boundary() {
        checks += 1;
        for (const { name, boot } of clusters.workload.fake.cluster("prod")?.members ?? []) {
          if (boot.isGone) {
            dead.add(name);
          }
        }
      },
    });
    await clusters.change("prod", newer);
    const state = await clusters.untilRunning("prod");
    t.ok(checks > 10 * count, `${checks} reads`);
    t.same([...dead], [], "no machine was removed before its etcd member");
    t.same(membersOf(clusters), serversOf(state));
    t.equal(state.slots.length, count);
    t.ok(state.slots.every(({ k8sVersion }) => k8sVersion === "1.36.3"));
    t.equal(clusters.workload.fake.clusters().length, 1);
    t.same(await clusters.differences(), []);
  });
}

test("with the API key of another account no machine is given up", async (t) => {
  const clusters = await createTestClusters(t);
  const first = clusters.start();
  await clusters.create("prod", { pools: { web: 1 } });
  const before = await clusters.untilRunning("prod");
  await first.close();

  const wrong = clusters.start({ maas: clusters.maas.other });
  const shown = await clusters.until("prod", ({ cluster }) =>
    cluster.message.includes("MAAS cannot be read"),
  );
  t.match(shown.cluster.message, "API key belongs to sandbox-other");
  t.ok(shown.slots.every(({ state }) => state === "joined"));
  await clusters.change("prod", { set: { isDeleting: true } });
  const leaving = await clusters.until("prod", ({ slots }) =>
    slots.every(({ state, attempts }) => state === "releasing" && attempts > 1),
  );
  t.same(
    leaving.slots.map(({ uid }) => uid),
    before.slots.map(({ uid }) => uid),
  );
  t.equal(clusters.workload.fake.cluster("prod")?.nodes.size, 2);
  t.equal(eventsOf(clusters, "Releasing"), 0);
  t.equal(eventsOf(clusters, "Allocated"), 2, "the other account allocated none");
  await wrong.close();

  clusters.start();
  await clusters.untilGone("prod");
  t.same(await clusters.differences(), []);
  t.ok(clusters.maas.fake.region.machines().every(({ status }) => status === "ready"));
});

test("a store without a recorded account does not record one that sees none of its clusters' machines", async (t) => {
  const clusters = await createTestClusters(t);
  const first = clusters.start();
  await clusters.create("prod", { pools: { web: 1 } });
  await clusters.untilRunning("prod");
  await first.close();
  const recorded: string[] = [];
  const run: Store["run"] = async (name, args) => {
    const answer: unknown = await clusters.store.run(name, args);
    if (name === "clusters.setAccount") {
      recorded.push((args as { readonly account: string }).account);
    }
    const isBefore = name === "clusters.account" && recorded.length === 0;
    return (isBefore ? { ...(answer as object), account: undefined } : answer) as never;
  };
  const store = { isShared: clusters.store.isShared, run, subscribe: clusters.store.subscribe };

  const wrong = clusters.start({ store, maas: clusters.maas.other });
  const shown = await clusters.until("prod", ({ cluster }) =>
    cluster.message.includes("MAAS cannot be read"),
  );
  t.match(shown.cluster.message, "sandbox-other, who cannot see the machines of its clusters");
  t.ok(shown.slots.every(({ state }) => state === "joined"));
  t.same(recorded, []);
  await wrong.close();

  clusters.start({ store });
  await clusters.untilRunning("prod");
  await clusters.change("prod", { set: { isDeleting: true } });
  await clusters.untilGone("prod");
  t.same(recorded, ["sandbox"]);
  t.equal(eventsOf(clusters, "Allocated"), 2);
  t.same(await clusters.differences(), []);
});

test("a store without a recorded account records one from which no machine is hidden, though none is marked", async (t) => {
  const machines = [{ systemId: "sbxaaa", owner: undefined, annotations: new Map() }];
  const maas = {
    url: "http://maas",
    whoami: async () => ({ username: "sandbox", isAdmin: false }),
    machines: async ({ owner }: MaasMachineFilter = {}) =>
      (owner === undefined ? machines : []) as unknown as readonly MaasMachine[],
  };
  const states = (systemId: string) => [{ cluster: { backend: maas.url }, slots: [{ systemId }] }];
  const storeOf = (systemId: string): Pick<Store, "run"> => ({
    run: async (name: string) => {
      const answers: Record<string, unknown> = {
        "clusters.account": { account: undefined, hasMachines: true },
        "clusters.installation": { installationId: randomUUID() },
        "clusters.states": states(systemId),
      };
      return answers[name] as never;
    },
  });
  t.equal(await readAccount(maas, storeOf("sbxaaa")), "sandbox");
  await t.rejects(readAccount(maas, storeOf("sbxbbb")), { reason: "MAAS_DENIED", message: /\(sbxbbb\)/ });
});

test("a machine that continues under another slot of its cluster keeps its node and etcd member; otherwise they are removed", async (t) => {
  const clusters = await createTestClusters(t, { machines: 7 });
  clusters.start();
  await clusters.create("prod", { controlPlane: 3 });
  await clusters.untilRunning("prod");
  const { region } = clusters.maas.fake;

  async function lose(change: (systemId: string) => unknown): Promise<string> {
    const slot = (await clusters.state("prod"))?.slots.at(0);
    await change(slot?.systemId ?? "");
    await clusters.until("prod", ({ slots }) => slots.every(({ uid }) => uid !== slot?.uid));
    await clusters.untilRunning("prod");
    return slot?.hostname ?? "";
  }
  const annotate = (systemId: string, annotations: Readonly<Record<string, string>>) =>
    region.change(systemId, { kind: "annotate", user: "sandbox", annotations });

  const handedOn = await lose((systemId) => annotate(systemId, { "hostplane-slot": randomUUID() }));
  t.ok(membersOf(clusters).includes(handedOn), "its etcd member now belongs to another slot");
  t.ok(clusters.workload.fake.cluster("prod")?.nodes.has(handedOn));
  t.equal(membersOf(clusters).length, 4);

  const ofOther = await lose((systemId) =>
    annotate(systemId, { "hostplane-slot": randomUUID(), "hostplane-cluster-uid": randomUUID() }),
  );
  t.notOk(membersOf(clusters).includes(ofOther), "it belongs to another cluster");
  t.notOk(clusters.workload.fake.cluster("prod")?.nodes.has(ofOther));

  const retaken = await lose((systemId) => {
    region.change(systemId, { kind: "release", erase: false });
    region.finish(systemId);
    region.change(systemId, { kind: "allocate", owner: "sandbox-other", agentName: "" });
  });
  t.notOk(membersOf(clusters).includes(retaken), "it belongs to another account");
  const state = await clusters.untilRunning("prod");
  t.same(membersOf(clusters), [...serversOf(state), handedOn].toSorted());
});

/**
 * Creates a cluster whose store was restored to a state before any machine was allocated, although the cluster was created
 * since.
 */
async function restoredBeforeItsMachines(t: Test) {
  const clusters = await createTestClusters(t, { machines: 4 });
  await clusters.create("prod");
  const directory = await makeDirectory(t);
  await clusters.store.backup(databaseFile(directory));
  const first = clusters.start();
  await clusters.untilRunning("prod");
  await first.close();
  const store = await openOwnStore(t, { directory });
  const until = async (matches: (state: ClusterState) => boolean) => {
    const endMs = performance.now() + 15_000;
    for (;;) {
      const state = await store.run("clusters.get", { name: "prod" });
      if (state !== undefined && matches(state)) {
        return state;
      }
      if (performance.now() > endMs) {
        throw new Error(JSON.stringify(state?.slots));
      }
      await wait(20);
    }
  };
  return { clusters, store, until };
}

test("a control plane is not started while MAAS does not list machines, nor next to one that exists in MAAS", async (t) => {
  const { clusters, store, until } = await restoredBeforeItsMachines(t);
  const blind = clusters.start({ store, maas: blindMaas(clusters, isListOfAccount, { fails: true }) });
  const waits = await until(
    ({ slots: [slot] }) => slot?.message.includes("waiting for MAAS to list") === true,
  );
  t.match(waits.slots, [{ state: "annotated", pool: undefined }]);
  await blind.close();

  clusters.start({ store });
  const reported = await until(({ slots: [slot] }) => slot?.message.includes("adopt or release") === true);
  t.match(reported.slots, [{ state: "annotated", message: /MAAS lists node-1 as a machine of the cluster/ }]);
  t.equal(eventsOf(clusters, "Deploying"), 1, "the only installation is the earlier one");
  t.equal(clusters.workload.fake.clusters().length, 1);
  t.same(clusters.workload.fake.refusals, []);
});

for (const hidden of ["its marks", "its marks and its address"]) {
  test(`an installed machine is kept and reported when MAAS does not show ${hidden}`, async (t) => {
    const clusters = await createTestClusters(t);
    const maas = hidden === "its marks" ? clusters.maas : withoutAddresses(clusters.maas);
    const first = clusters.start({ maas });
    await clusters.create("prod", { pools: { web: 1 } });
    const before = await clusters.untilRunning("prod");
    await first.close();
    const slot = before.slots.find(({ pool }) => pool === "web");
    const { uid = "", systemId = "", hostname = "" } = slot ?? {};
    const { region } = clusters.maas.fake;
    const annotate = (value: string) =>
      region.change(systemId, {
        kind: "annotate",
        user: "sandbox",
        annotations: { "hostplane-slot": value },
      });
    annotate("");
    t.notOk((await clusters.maas.machine(systemId)).annotations.has("hostplane-slot"));

    clusters.start({ maas: blindMaas({ maas }, ({ agentName }) => agentName !== undefined) });
    const { cluster, slots } = await clusters.until("prod", (state) => state.cluster.status === "degraded");
    t.match(cluster.message, `annotate it with hostplane-slot=${uid}`);
    t.match(
      slots.find((each) => each.uid === uid),
      { state: "joined", reason: "MACHINE_STATE", systemId },
    );
    t.equal(region.machine(systemId)?.status, "deployed");
    t.ok(clusters.workload.fake.cluster("prod")?.nodes.has(hostname));
    annotate(uid);
    const after = await clusters.untilRunning("prod");
    t.same(
      after.slots.map((each) => each.uid),
      before.slots.map((each) => each.uid),
    );
  });
}
