import { test } from "tap";
import { nextNumber } from "../../../../adapters/maas/fake/addresses.ts";
import { createFakeRegion } from "../../../../adapters/maas/fake/region.ts";
import { startMaasFake } from "../../../../adapters/maas/fake/server.ts";
import { createMaas } from "../../../../adapters/maas/maas.ts";
import { reasonOf } from "../../host/reason-of.ts";

const apiKey = { consumer: "consumer", token: "token", secret: "secret" };
const options = {
  users: [{ username: "me", isAdmin: false, apiKey }],
  machines: [{ systemId: "abcdef", hostname: "node-1" }],
  images: [{ name: "ubuntu/noble", type: "Synced" }],
  tags: [],
  pools: ["default"],
  zones: ["default"],
  deployMs: 100,
  releaseMs: 100,
  eraseMs: 100,
} as const;

test("listeners are notified of each change of a machine, requested or not", (t) => {
  const received: string[] = [];
  let nowMs = 1_000;
  const region = createFakeRegion({
    ...options,
    nowMs: () => nowMs,
    onChange: (before, { kind }, after) => received.push(`${kind}: ${before.status} to ${after.status}`),
  });
  region.change("abcdef", { kind: "allocate", owner: "me", agentName: "slot-1" });
  region.change("abcdef", { kind: "allocate", owner: "me", agentName: "slot-2" });
  region.change("abcdef", { kind: "deploy", osystem: "ubuntu", series: "noble", userData: undefined });
  nowMs += 100;
  region.machines();
  t.same(received, [
    "allocate: ready to allocated",
    "deploy: allocated to deploying",
    "deployed: deploying to deployed",
  ]);
  t.end();
});

test("its subnet is configurable", async (t) => {
  const fake = await startMaasFake({ ...options, addressPrefix: "127.5.6" });
  const maas = createMaas({ url: fake.url, apiKey });
  t.teardown(async () => {
    await maas.close();
    await fake.close();
  });
  await maas.reserveAddress({ address: "127.5.6.2" });
  await maas.allocate({ systemId: "abcdef", agentName: "slot-1" });
  await maas.deploy("abcdef", { series: "noble", userData: "#cloud-config\n" });
  t.same((await maas.machine("abcdef")).ipAddresses, ["127.5.6.3"]);
  t.equal(await reasonOf(maas.reserveAddress({ address: "10.20.0.2" })), "MAAS_REFUSED");
});

test("the next address is the first of the smallest run of free ones", (t) => {
  const subnet = (isManaged: boolean) => ({
    isManaged,
    ranges: [
      { type: "dynamic", first: 240, last: 254 } as const,
      { type: "reserved", first: 100, last: 110 } as const,
    ],
  });
  const next = (taken: readonly number[], isManaged = true) =>
    nextNumber(subnet(isManaged), (number) => taken.includes(number));
  t.equal(next([]), 2, "98 below the range, 129 above it");
  t.equal(next([200]), 201, "39 are left above the reserved address");
  t.equal(next([200, 203]), 201, "the smallest run, however small");
  t.equal(next([50, 63]), 51, "12 between the two");
  t.equal(next([], false), 100, "in an unmanaged subnet, only addresses of the reserved ranges are assigned");
  t.equal(next([100, 105], false), 101);
  const all = Array.from({ length: 11 }, (_, index) => 100 + index);
  t.equal(next(all, false), undefined);
  t.end();
});

test("a managed subnet assigns the addresses right above the reserved one", async (t) => {
  const fake = await startMaasFake({ ...options, ranges: [] });
  const maas = createMaas({ url: fake.url, apiKey });
  t.teardown(async () => {
    await maas.close();
    await fake.close();
  });
  await maas.reserveAddress({ address: "10.20.0.200" });
  await maas.deploy("abcdef", { series: "noble" });
  t.same((await maas.machine("abcdef")).ipAddresses, ["10.20.0.201"]);
  t.equal(await reasonOf(maas.reserveAddress({ address: "10.20.0.201" })), "ADDRESS_TAKEN");
});
