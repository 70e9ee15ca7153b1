import { test } from "tap";
import type { MaasSandboxOptions } from "../../../../../adapters/maas/sandbox.ts";
import { createTestClusters, type TestClusters } from "./clusters-under-test.ts";

const addresses = ["10.20.0.200", "10.20.0.201", "10.20.0.202", "10.20.0.203", "10.20.0.204"];

async function startClusters(
  t: Parameters<typeof createTestClusters>[0],
  maas: MaasSandboxOptions = {},
  endpoints: readonly string[] = addresses,
): Promise<TestClusters> {
  const clusters = await createTestClusters(t, { settings: { endpoints }, maas });
  clusters.start();
  return clusters;
}

async function endpointOf(clusters: TestClusters, name: string): Promise<string | undefined> {
  return (await clusters.state(name))?.cluster.endpoint;
}

/** Waits for a cluster that cannot be created, and returns its message. */
async function refusedCluster(clusters: TestClusters, name: string): Promise<string> {
  const { cluster } = await clusters.until(name, (state) => state.cluster.status === "error");
  return cluster.message;
}

const wasTaken = ({ maas }: TestClusters) =>
  maas.fake.requests.some(({ op, form }) => op === "allocate" && !form?.has("dry_run"));

test("in a managed subnet, whose addresses after a reserved one go to machines, further clusters get other addresses", async (t) => {
  const clusters = await startClusters(t);
  await clusters.create("first", { pools: { web: 1 } });
  await clusters.untilRunning("first");
  t.equal(await endpointOf(clusters, "first"), "10.20.0.200");
  const { region } = clusters.maas.fake;
  const given = region.machines().flatMap(({ address }) => address ?? []);
  t.same(given.toSorted(), ["10.20.0.201", "10.20.0.202"], "assigned to machines by MAAS");
  await clusters.create("second");
  await clusters.untilRunning("second");
  t.equal(await endpointOf(clusters, "second"), "10.20.0.203");
  t.same([...region.reservations.keys()].toSorted(), ["10.20.0.200", "10.20.0.203"]);
  await clusters.change("second", { set: { isDeleting: true } });
  await clusters.untilGone("second");
  await clusters.create("third");
  await clusters.untilRunning("third");
  t.equal(await endpointOf(clusters, "third"), "10.20.0.203", "after it was released");
  t.same(await clusters.differences(), []);
});

test("clusters use addresses in a reserved range of a managed subnet without reserving them", async (t) => {
  const clusters = await startClusters(t, { ranges: [{ type: "reserved", first: 200, last: 204 }] });
  await clusters.create("first", { pools: { web: 1 } });
  await clusters.create("second");
  await Promise.all([clusters.untilRunning("first"), clusters.untilRunning("second")]);
  t.same(
    [await endpointOf(clusters, "first"), await endpointOf(clusters, "second")],
    ["10.20.0.200", "10.20.0.201"],
  );
  const { region } = clusters.maas.fake;
  t.ok(region.machines().every(({ address }) => !addresses.includes(address ?? "")));
  t.equal(region.reservations.size, 0);
  await clusters.change("first", { set: { isDeleting: true } });
  await clusters.untilGone("first");
});

test("addresses outside the reserved ranges of an unmanaged subnet are reserved", async (t) => {
  const ranges = [{ type: "reserved", first: 10, last: 99 } as const];
  const clusters = await startClusters(t, { ranges, isManaged: false });
  await clusters.create("prod", { pools: { web: 1 } });
  await clusters.untilRunning("prod");
  t.same([...clusters.maas.fake.region.reservations.keys()], ["10.20.0.200"]);
});

for (const [what, maas, expected] of [
  [
    "in a reserved range of an unmanaged subnet, which MAAS assigns to machines",
    { ranges: [{ type: "reserved", first: 190, last: 220 }], isManaged: false },
    /within the reserved range from 10\.20\.0\.190 to 10\.20\.0\.220/,
  ],
  [
    "in a dynamic range",
    { ranges: [{ type: "dynamic", first: 200, last: 254 }] },
    /belongs to an existing dynamic range/,
  ],
] as const) {
  test(`addresses ${what} are rejected before a machine is allocated`, async (t) => {
    const clusters = await startClusters(t, maas);
    await clusters.create("prod", { pools: { web: 1 } });
    const message = await refusedCluster(clusters, "prod");
    t.match(message, /none of the 5 unused addresses of `clusters\.endpoint\.addresses`/);
    t.match(message, /`hostplane doctor` shows the fix/);
    t.match(message, expected);
    t.notOk(wasTaken(clusters));
    await clusters.change("prod", { set: { isDeleting: true } });
    await clusters.untilGone("prod");
  });
}

test("while other users have all addresses no machine is allocated, and an address that is released is used", async (t) => {
  const clusters = await startClusters(t, {}, addresses.slice(0, 2));
  for (const address of addresses.slice(0, 2)) {
    await clusters.maas.other.reserveAddress({ address });
  }
  await clusters.create("prod", { pools: { web: 1 } });
  t.match(await refusedCluster(clusters, "prod"), /none of the 2 unused addresses .* is free in MAAS/);
  t.notOk(wasTaken(clusters));
  await clusters.maas.other.releaseAddress("10.20.0.200");
  await clusters.untilRunning("prod");
  t.equal(await endpointOf(clusters, "prod"), "10.20.0.200");
  t.equal(clusters.maas.fake.region.reservations.get("10.20.0.200")?.username, "sandbox");
});

test("an address that the account has reserved by hand is used", async (t) => {
  const clusters = await startClusters(t);
  await clusters.maas.reserveAddress({ address: "10.20.0.200" });
  await clusters.create("prod");
  await clusters.untilRunning("prod");
  t.equal(await endpointOf(clusters, "prod"), "10.20.0.200");
});

test("a cluster whose address is lost before its installation keeps no machine, and is created at another address", async (t) => {
  const clusters = await createTestClusters(t, { settings: { endpoints: addresses } });
  let isStolen = false;
  clusters.start({
    async boundary(point) {
      if (point === "after write deploying" && !isStolen) {
        isStolen = true;
        await clusters.maas.releaseAddress("10.20.0.200");
        await clusters.maas.other.reserveAddress({ address: "10.20.0.200" });
      }
    },
  });
  await clusters.create("prod", { pools: { web: 1 } });
  await clusters.untilRunning("prod");
  t.equal(await endpointOf(clusters, "prod"), "10.20.0.201");
  const known = await clusters.store.run("clusters.machines", { name: "prod" });
  t.ok(known?.events.some(({ message }) => /address 10\.20\.0\.200 is already in use/.test(message)));
  t.same(await clusters.differences(), []);
});
