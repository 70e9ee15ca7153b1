import { test } from "tap";
import { createFakeRegion } from "../../../../adapters/maas/fake/region.ts";
import { startMaasFake } from "../../../../adapters/maas/fake/server.ts";
import { createMaas } from "../../../../adapters/maas/maas.ts";

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
  addressCount: 2,
} as const;

test("whoever listens hears of each change of a machine, asked for or not", (t) => {
  const heard: string[] = [];
  let nowMs = 1_000;
  const region = createFakeRegion({
    ...options,
    nowMs: () => nowMs,
    onChange: (before, { kind }, after) => heard.push(`${kind}: ${before.status} to ${after.status}`),
  });
  region.change("abcdef", { kind: "allocate", owner: "me", agentName: "slot-1" });
  region.change("abcdef", { kind: "allocate", owner: "me", agentName: "slot-2" });
  region.change("abcdef", { kind: "deploy", osystem: "ubuntu", series: "noble", userData: undefined });
  nowMs += 100;
  region.machines();
  t.same(heard, [
    "allocate: ready to allocated",
    "deploy: allocated to deploying",
    "deployed: deploying to deployed",
  ]);
  t.end();
});

test("its subnet is one's own choice", async (t) => {
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
  const reasonOf = (refused: Promise<unknown>) => refused.catch(({ reason }) => reason);
  t.equal(await reasonOf(maas.reserveAddress({ subnet: "127.5.6.0/24" })), "NO_ADDRESS");
  t.equal(await reasonOf(maas.reserveAddress({ address: "10.20.0.2" })), "MAAS_REFUSED");
});
