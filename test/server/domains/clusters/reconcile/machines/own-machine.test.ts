import { randomUUID } from "node:crypto";
import { test } from "tap";
import { createMaasSandbox } from "../../../../../../adapters/maas/sandbox.ts";
import {
  agentNameOf,
  marksOf,
} from "../../../../../../server/domains/clusters/reconcile/machines/machine-marks.ts";
import { ownMachine } from "../../../../../../server/domains/clusters/reconcile/machines/own-machine.ts";

const installation = "0123456789abcdef";
const systemId = "sbxaaa";

async function createUnderTest(t: { teardown(end: () => Promise<void>): void }) {
  const maas = await createMaasSandbox({
    deployMs: Number.POSITIVE_INFINITY,
    releaseMs: Number.POSITIVE_INFINITY,
  });
  t.teardown(() => maas.close());
  const slot = { uid: randomUUID(), systemId };
  const marks = marksOf(installation, {
    ...slot,
    cluster: "prod",
    clusterUid: randomUUID(),
    pool: "web",
    sequence: 1,
  });
  return {
    maas,
    marks,
    allocate: () => maas.allocate({ systemId, agentName: agentNameOf(installation, slot.uid) }),
    deploy: () => maas.deploy(systemId, { series: "noble" }),
    whose: (isInstalled = false) => ownMachine(maas, "sandbox", installation, { ...slot, isInstalled }),
    /** An administrator sees the machines of all users. */
    whoseByAdmin: () => ownMachine(maas.admin, "sandbox-admin", installation, { ...slot, isInstalled: true }),
  };
}

test("a machine belongs to a slot when it was allocated under its name, and when it is marked with it", async (t) => {
  const { maas, marks, allocate, deploy, whose } = await createUnderTest(t);
  t.match(await whose(), { is: "gone", why: /no owner/ });
  await allocate();
  t.match(await whose(), { is: "ours" });
  await maas.annotate(systemId, marks);
  await deploy();
  t.match(await whose(), { is: "ours", machine: { status: "deploying" } });
  await maas.release(systemId);
  t.match(await whose(), { is: "ours", machine: { status: "releasing" } });
  maas.fake.region.finish(systemId);
  t.match(await whose(), { is: "gone" });
});

test("an unmarked machine that is being released belongs to the slot until it is released", async (t) => {
  const { maas, allocate, deploy, whose } = await createUnderTest(t);
  await allocate();
  await deploy();
  await maas.admin.release(systemId);
  t.match(await whose(), { is: "ours", machine: { status: "releasing" } });
  maas.fake.region.finish(systemId, "failed");
  t.match(await whose(), { is: "ours", machine: { status: "failedReleasing" } });
});

test("a machine that belongs to another user or slot, has another agent name, or does not exist is gone", async (t) => {
  const { maas, marks, whose, whoseByAdmin } = await createUnderTest(t);
  await maas.other.allocate({ systemId, agentName: "somebody" });
  t.match(await whose(), { is: "gone", why: /belongs to another user/ }, "MAAS does not show it");
  t.match(await whoseByAdmin(), { is: "gone", why: /sandbox-other/ });
  await maas.other.release(systemId);

  await maas.allocate({ systemId, agentName: agentNameOf(installation, randomUUID()) });
  t.match(await whose(), { is: "gone", why: /annotations in MAAS are gone/ });
  await maas.annotate(systemId, { ...marks, "hostplane-slot": randomUUID() });
  t.match(await whose(), { is: "gone", why: /another/ });
  maas.fake.region.remove(systemId);
  t.match(await whose(), { is: "gone", why: /no longer exists/ });
});

test("an installed machine without marks is not considered gone", async (t) => {
  const { maas, allocate, deploy, whose } = await createUnderTest(t);
  await maas.allocate({ systemId, agentName: "somebody" });
  await deploy();
  t.match(await whose(), { is: "gone" });
  t.match(await whose(true).catch((error: unknown) => error), { reason: "MACHINE_STATE" });
  maas.fake.region.change(systemId, { kind: "release", erase: false });
  maas.fake.region.finish(systemId);
  await allocate();
  t.match(await whose(true), { is: "ours" });
});

test("a machine marked with the slot but owned by another account is kept: the API key is wrong", async (t) => {
  const { maas, marks, allocate, whose, whoseByAdmin } = await createUnderTest(t);
  await maas.other.allocate({ systemId, agentName: "somebody" });
  await maas.other.annotate(systemId, marks);
  t.match(await whoseByAdmin().catch((error: unknown) => error), { reason: "MAAS_DENIED" });
  await maas.other.release(systemId);
  await allocate();
  t.match(await whose(), { is: "ours" });
});

test("a 403 without a body about a machine that MAAS lists proves nothing", async (t) => {
  const { maas, allocate, whose } = await createUnderTest(t);
  await allocate();
  const forbidden = { kind: "answer", answer: { status: 403, text: "" } } as const;
  maas.fake.inject({ path: `machines/${systemId}` }, forbidden);
  t.match(await whose().catch((error: unknown) => error), { reason: "MACHINE_TAKEN" });
  t.match(await whose(), { is: "ours" });
});

test("an error response proves nothing", async (t) => {
  const { maas, allocate, whose } = await createUnderTest(t);
  await allocate();
  maas.fake.inject(
    { path: `machines/${systemId}` },
    { kind: "answer", answer: { status: 404, text: "Not Found" } },
  );
  t.match(await whose().catch((error: unknown) => error), { reason: "MAAS_FAILED" });
});
