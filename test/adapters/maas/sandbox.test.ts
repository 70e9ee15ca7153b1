import { type Test, test } from "tap";
import {
  createMaasSandbox,
  type MaasSandbox,
  type MaasSandboxOptions,
} from "../../../adapters/maas/sandbox.ts";
import { reasonOf } from "../host/reason-of.ts";
import { createSteppedClock } from "../sandbox/stepped-clock.ts";
import { passesMaasContract } from "./contract.ts";

async function startSandbox(t: Test, options: MaasSandboxOptions = {}): Promise<MaasSandbox> {
  const timing = { deployMs: Number.POSITIVE_INFINITY, releaseMs: 0, eraseMs: 0 };
  const sandbox = await createMaasSandbox({ ...timing, ...options });
  t.teardown(() => sandbox.close());
  return sandbox;
}

/** Starts the deployment of a machine of ours. */
async function startDeployment(sandbox: MaasSandbox): Promise<string> {
  const { systemId } = await sandbox.choose({});
  await sandbox.allocate({ systemId, agentName: "kaas/a/b" });
  await sandbox.deploy(systemId, { series: "noble" });
  return systemId;
}

test("the sandbox passes the contract", async (t) => {
  const sandbox = await startSandbox(t, { releaseMs: 20 });
  await passesMaasContract(t, {
    maas: sandbox,
    tag: "standard",
    pool: "default",
    series: "ubuntu/noble",
    subnet: "10.20.0.0/24",
    missingId: "y7y7y7",
    finishDeployment: (systemId) => sandbox.fake.region.finish(systemId),
  });
});

test("the sandbox identifies itself as one", async (t) => {
  const sandbox = await startSandbox(t);
  t.equal(sandbox.kind, "sandbox");
  t.equal(sandbox.url, "http://sandbox.invalid/MAAS");
  for (const { hostname } of await sandbox.machines()) {
    t.match(hostname, /^sandbox-/);
  }
  t.match(new URL(sandbox.fake.url).hostname, "127.0.0.1");
});

test("a deployment fails on request, and the machine is released", async (t) => {
  const sandbox = await startSandbox(t, { deployMs: 0 });
  const { systemId } = await sandbox.choose({});
  sandbox.fake.region.failNext(systemId);
  await sandbox.deploy(systemId, { series: "noble" });
  t.match(await sandbox.machine(systemId), { status: "failedDeployment", statusMessage: /failed/ });
  sandbox.fake.region.failNext(systemId);
  await sandbox.release(systemId);
  t.match(await sandbox.machine(systemId), { status: "failedReleasing", owner: "sandbox" });
  await sandbox.release(systemId, { erase: "full" });
  t.match(await sandbox.machine(systemId), { status: "ready", owner: undefined });
});

test("machines take the time of the sandbox's clock, and calls are accepted however far it is stepped", async (t) => {
  const clock = createSteppedClock();
  const hourMs = 3_600_000;
  const sandbox = await startSandbox(t, { deployMs: hourMs, clock });
  const systemId = await startDeployment(sandbox);
  await clock.step(hourMs - 1);
  t.match(await sandbox.machine(systemId), { status: "deploying" });
  await clock.step(1);
  t.match(await sandbox.machine(systemId), { status: "deployed" });
});

test("a release takes time, during which we still own the machine", async (t) => {
  const sandbox = await startSandbox(t, { releaseMs: Number.POSITIVE_INFINITY });
  const systemId = await startDeployment(sandbox);
  await sandbox.annotate(systemId, { kept: "yes" });
  await sandbox.release(systemId);
  t.match(await sandbox.machine(systemId), { status: "releasing", owner: "sandbox" });
  t.equal((await sandbox.machine(systemId)).annotations.get("kept"), "yes");
  t.same(await sandbox.machines({ agentName: "kaas/a/b" }), [], "but the agent name is removed");
  t.match(await sandbox.release(systemId), { status: "releasing" });
  sandbox.fake.region.finish(systemId);
  t.match(await sandbox.machine(systemId), { status: "ready", owner: undefined });
});

test("disks are erased at every release where configured", async (t) => {
  const sandbox = await startSandbox(t, { eraseMs: Number.POSITIVE_INFINITY, eraseDisks: "quick" });
  const systemId = await startDeployment(sandbox);
  sandbox.fake.region.finish(systemId);
  t.match(await sandbox.release(systemId, { comment: "no longer needed" }), { status: "diskErasing" });
});

test("disks are erased before a machine is free, which cannot be released meanwhile", async (t) => {
  const sandbox = await startSandbox(t, { eraseMs: Number.POSITIVE_INFINITY });
  const systemId = await startDeployment(sandbox);
  t.match(await sandbox.release(systemId, { erase: "quick" }), { status: "diskErasing" });
  t.equal(await reasonOf(sandbox.release(systemId)), "MACHINE_STATE");
  sandbox.fake.region.finish(systemId);
  t.match(await sandbox.machine(systemId), { status: "ready" });
});

test("an administrator can lock, release and mark our machines", async (t) => {
  const sandbox = await startSandbox(t);
  const systemId = await startDeployment(sandbox);
  await sandbox.admin.lock(systemId);
  t.equal(await reasonOf(sandbox.release(systemId)), "MACHINE_LOCKED");
  await sandbox.admin.unlock(systemId);
  await sandbox.admin.release(systemId);
  t.match(await sandbox.machine(systemId), { status: "ready", owner: undefined });
  const again = await startDeployment(sandbox);
  t.match(await sandbox.admin.markBroken(again, "smoke"), { status: "broken", statusMessage: "Released" });
  t.match(await sandbox.admin.events(again, 1), [{ type: "Marked broken", description: "smoke" }]);
  t.match(await sandbox.machine(again), { owner: undefined, ipAddresses: [] });
  t.same(await sandbox.machines({ owner: "sandbox" }), []);
  sandbox.fake.region.remove(again);
  t.equal(await reasonOf(sandbox.release(again)), "MACHINE_NOT_FOUND");
});

test("another user's machine is not changed", async (t) => {
  const sandbox = await startSandbox(t);
  const { systemId } = await sandbox.other.choose({});
  await sandbox.other.allocate({ systemId, agentName: "theirs" });
  t.equal(await reasonOf(sandbox.allocate({ systemId, agentName: "ours" })), "MACHINE_TAKEN");
  t.equal(await reasonOf(sandbox.release(systemId)), "MACHINE_TAKEN");
  t.equal(await reasonOf(sandbox.deploy(systemId, { series: "noble" })), "MACHINE_TAKEN");
  t.equal(await reasonOf(sandbox.annotate(systemId, { a: "1" })), "MACHINE_TAKEN");
  await sandbox.other.deploy(systemId, { series: "noble" });
  await sandbox.other.lock(systemId);
  t.equal(await reasonOf(sandbox.unlock(systemId)), "MACHINE_TAKEN");
  t.equal(await reasonOf(sandbox.machine(systemId)), "MACHINE_TAKEN");
  t.same(await sandbox.machines({ systemIds: [systemId] }), []);
  t.same(await sandbox.events(systemId, 10), []);
  const seen = await sandbox.admin.machine(systemId);
  t.match(seen, { owner: "sandbox-other", status: "deploying", isLocked: true });
});

test("addresses can run out", async (t) => {
  const sandbox = await startSandbox(t, { ranges: [{ type: "reserved", first: 4, last: 254 }] });
  await sandbox.reserveAddress({ subnet: "10.20.0.0/24" });
  await startDeployment(sandbox);
  t.equal(await reasonOf(sandbox.reserveAddress({ subnet: "10.20.0.0/24" })), "NO_ADDRESS");
  const { systemId } = await sandbox.choose({});
  t.equal(await reasonOf(sandbox.deploy(systemId, { series: "noble" })), "NO_ADDRESS");
  t.match(await sandbox.machine(systemId), { status: "ready", owner: undefined }, "and nothing is allocated");
  await sandbox.other.reserveAddress({ address: "10.20.0.255" });
  await sandbox.releaseAddress("10.20.0.255");
  t.same(await sandbox.other.addresses(), ["10.20.0.255"], "reservations of others stay");
});

test("an address that MAAS reserves for others is refused with the reason", async (t) => {
  const sandbox = await startSandbox(t);
  await t.rejects(sandbox.reserveAddress({ address: "10.20.0.250" }), {
    reason: "MAAS_REFUSED",
    message: /dynamic range/,
  });
  const elsewhere = { subnet: "10.20.0.0/24", hostname: "api.example.org" };
  t.equal(await reasonOf(sandbox.reserveAddress(elsewhere)), "MAAS_REFUSED");
  t.equal(await reasonOf(sandbox.reserveAddress({ address: "192.0.2.7" })), "MAAS_REFUSED");
  t.same(await sandbox.addresses(), []);
});

test("a missing image is distinguished from a machine that is not ready", async (t) => {
  const sandbox = await startSandbox(t);
  const { systemId } = await sandbox.choose({});
  sandbox.fake.region.images.splice(0);
  await t.rejects(sandbox.deploy(systemId, { series: "jammy" }), {
    reason: "MAAS_REFUSED",
    message: /operating system ubuntu jammy is unavailable/,
  });
  t.match((await sandbox.inspect()).findings, [{ ok: true }, { ok: false, fix: /boot-resources/ }]);
});

test("user data for cloud-init arrives unchanged, whatever its bytes", async (t) => {
  const sandbox = await startSandbox(t);
  const { systemId } = await sandbox.choose({});
  const userData = Uint8Array.from({ length: 200_000 }, (_, index) => (index * 7919) % 256);
  await sandbox.deploy(systemId, { series: "noble", userData });
  const arrived = Buffer.from(sandbox.fake.region.machine(systemId)?.userData ?? "", "base64");
  t.ok(arrived.equals(userData));
  t.equal(
    await reasonOf(sandbox.deploy(systemId, { series: "noble", userData: "x".repeat(2 ** 20 + 1) })),
    "INVALID_FIELD",
  );
});

test("many ids are queried in batches", async (t) => {
  const machines = Array.from({ length: 450 }, (_, index) => {
    const digits = [...index.toString(8).padStart(3, "0")].map((digit) => "abcdefgh"[Number(digit)]);
    return { systemId: `sbx${digits.join("")}`, hostname: `sandbox-${index}` };
  });
  const sandbox = await startSandbox(t, { machines });
  const systemIds = machines.map(({ systemId }) => systemId);
  t.equal((await sandbox.machines({ systemIds })).length, 450);
  t.equal(sandbox.fake.requests.length, 3);
});
