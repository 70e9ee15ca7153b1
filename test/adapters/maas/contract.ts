import type { Test } from "tap";
import type { MaasAdapter } from "../../../adapters/maas/adapter.ts";
import type { MaasMachine, MaasMachineStatus } from "../../../adapters/maas/machine.ts";
import { reasonOf } from "../host/reason-of.ts";

/** A MAAS for a test: at least two machines must be free and not used by anything else. */
export interface MaasUnderTest {
  readonly maas: MaasAdapter;
  /** Tag and pool of free machines. */
  readonly tag: string;
  readonly pool: string;
  /** An image that can be deployed. */
  readonly series: string;
  /** A subnet in which addresses can be reserved. */
  readonly subnet: string;
  /** A system id without a machine. */
  readonly missingId: string;
  /** Completes a deployment that would otherwise never end. Absent: deployments end by themselves. */
  readonly finishDeployment?: (systemId: string) => void;
}

const agentName = "kaas/contract/slot-1";

async function untilStatus(maas: MaasAdapter, systemId: string, status: MaasMachineStatus) {
  const end = AbortSignal.timeout(20_000);
  for (;;) {
    const machine = await maas.machine(systemId, end);
    if (machine.status === status) {
      return machine;
    }
  }
}

/** Runs the tests that every MAAS adapter must pass. */
export async function passesMaasContract(
  t: Test,
  { maas, tag, pool, series, subnet, missingId, finishDeployment }: MaasUnderTest,
): Promise<void> {
  await t.test("returns the account, version and capabilities", async (t) => {
    t.match((await maas.whoami()).username, /\S/);
    t.match((await maas.version()).capabilities, ["networks-management"]);
    t.ok((await maas.tags()).includes(tag));
    t.ok((await maas.pools()).some(({ name }) => name === pool));
    t.ok((await maas.images()).some(({ name }) => name === series));
    t.same(
      (await maas.inspect()).findings.filter(({ ok }) => !ok),
      [],
    );
  });

  await t.test("rejects invalid names before any request", async (t) => {
    const refused = [
      maas.machine("../users"),
      maas.release("M6RNSC"),
      maas.machines({ systemIds: ["m6rnsc/"] }),
      maas.machines({ owner: "a b" }),
      maas.machines({ agentName: "" }),
      maas.choose({ tags: ["a,b"] }),
      maas.choose({ cpuCount: 1.5 }),
      maas.allocate({ systemId: missingId, agentName: "a\nb" }),
      maas.annotate(missingId, { op: "release" }),
      maas.annotate(missingId, { "a b": "c" }),
      maas.deploy(missingId, { series: "" }),
      maas.deploy(missingId, { series, agentName: "a\nb" }),
      maas.reserveAddress({}),
      maas.releaseAddress("all"),
      maas.events(missingId, 0),
    ];
    for (const call of refused) {
      t.equal(await reasonOf(call), "INVALID_FIELD");
    }
  });

  await t.test("finds machines", async (t) => {
    const all = await maas.machines();
    const ids = all.map(({ systemId }) => systemId);
    t.equal(new Set(ids).size, ids.length);
    const [first, second] = ids as [string, string];
    const some = await maas.machines({ systemIds: [second, first, second, missingId] });
    t.same(some.map(({ systemId }) => systemId).toSorted(), [first, second].toSorted());
    t.same(await maas.machines({ systemIds: [] }), [], "an empty list of ids matches no machine");
    t.same(await maas.machines({ agentName: "kaas/contract/nobody" }), []);
    t.equal((await maas.machine(first)).systemId, first);
    t.equal(await reasonOf(maas.machine(missingId)), "MACHINE_NOT_FOUND");
    t.equal(await reasonOf(maas.machines({ owner: "nobody-of-that-name" })), "MAAS_REFUSED");
  });

  await t.test("chooses a machine without allocating it", async (t) => {
    const chosen = await maas.choose({ tags: [tag], pool });
    t.match(chosen, { status: "ready", owner: undefined, pool });
    t.ok(chosen.tags.includes(tag));
    t.equal((await maas.choose({ tags: [tag], pool })).systemId, chosen.systemId);
    t.match(await maas.machine(chosen.systemId), { status: "ready", owner: undefined });
    t.equal(await reasonOf(maas.choose({ memoryMib: 1e9 })), "NO_MACHINE");
    t.equal(await reasonOf(maas.choose({ tags: ["no-such-tag"] })), "MAAS_REFUSED");
    t.equal(await reasonOf(maas.choose({ pool: "no-such-pool" })), "MAAS_REFUSED");
    t.equal(await reasonOf(maas.choose({ zone: "no-such-zone" })), "MAAS_REFUSED");
    t.equal(await reasonOf(maas.choose({ architecture: "sparc" })), "MAAS_REFUSED");
    await t.rejects(
      maas.choose({ tags: ["no-such-tag"] }),
      /tags: .*no-such-tag/,
      "the message names the field",
    );
  });

  await t.test("allocates a machine once, and finds it by its agent name", async (t) => {
    const { username } = await maas.whoami();
    const { systemId } = await maas.choose({ tags: [tag] });
    t.equal(
      await reasonOf(maas.allocate({ systemId, agentName, constraints: { memoryMib: 1e9 } })),
      "MACHINE_TAKEN",
    );
    const taken = await maas.allocate({
      systemId,
      agentName,
      constraints: { tags: [tag] },
      comment: "of a test",
    });
    t.match(taken, { systemId, status: "allocated", owner: username });
    t.equal(await reasonOf(maas.allocate({ systemId, agentName })), "MACHINE_TAKEN");
    t.equal(await reasonOf(maas.allocate({ systemId: missingId, agentName })), "MACHINE_TAKEN");
    const found = await maas.machines({ agentName, owner: username });
    t.same(
      found.map((machine) => machine.systemId),
      [systemId],
    );
    t.not((await maas.choose({ tags: [tag] })).systemId, systemId);
    t.equal(await reasonOf(maas.lock(systemId)), "MACHINE_STATE");
    t.equal(await reasonOf(maas.abort(systemId)), "MACHINE_STATE");
    t.match(await maas.release(systemId, { comment: "done" }), { systemId });
    await untilStatus(maas, systemId, "ready");
    t.same(await maas.machines({ agentName }), []);
    t.match(
      await maas.release(systemId),
      { status: "ready", owner: undefined },
      "a second release changes nothing",
    );
  });

  await t.test("annotates its own machines", async (t) => {
    const { systemId } = await maas.choose({ tags: [tag] });
    t.equal(await reasonOf(maas.annotate(systemId, { a: "1" })), "MACHINE_STATE");
    await maas.allocate({ systemId, agentName });
    const of = ({ annotations }: MaasMachine) => Object.fromEntries(annotations);
    t.same(of(await maas.annotate(systemId, { "kaas-slot": "s 1", b: "2" })), { "kaas-slot": "s 1", b: "2" });
    t.same(of(await maas.annotate(systemId, { b: undefined, c: "ü=&" })), { "kaas-slot": "s 1", c: "ü=&" });
    t.same(of(await maas.machine(systemId)), { "kaas-slot": "s 1", c: "ü=&" });
    await maas.release(systemId);
    t.same(of(await untilStatus(maas, systemId, "ready")), {});
    t.equal(await reasonOf(maas.annotate(missingId, { a: "1" })), "MACHINE_NOT_FOUND");
  });

  await t.test("deploys, locks and releases a machine", async (t) => {
    const { systemId } = await maas.choose({ tags: [tag] });
    await maas.allocate({ systemId, agentName });
    await maas.annotate(systemId, { kept: "yes" });
    t.equal(await reasonOf(maas.deploy(systemId, { series: "windoze" })), "MAAS_REFUSED");
    const deploying = await maas.deploy(systemId, {
      series,
      agentName: "kaas/contract/another",
      userData: "#cloud-config\n",
    });
    t.equal(deploying.status, "deploying");
    t.equal(await reasonOf(maas.deploy(systemId, { series })), "MACHINE_STATE");
    t.equal(
      (await maas.machine(systemId)).ipAddresses.length,
      1,
      "its address is there from the next read on",
    );
    finishDeployment?.(systemId);
    const deployed = await untilStatus(maas, systemId, "deployed");
    t.equal(deployed.annotations.get("kept"), "yes");
    t.equal((await maas.machines({ agentName })).length, 1);
    t.match(await maas.lock(systemId, "mine"), { isLocked: true });
    t.equal(await reasonOf(maas.lock(systemId)), "MACHINE_STATE");
    t.equal(await reasonOf(maas.release(systemId)), "MACHINE_LOCKED");
    t.equal(await reasonOf(maas.annotate(systemId, { a: "1" })), "MACHINE_LOCKED");
    t.equal(await reasonOf(maas.markBroken(systemId, "x")), "MACHINE_LOCKED");
    t.match(await maas.unlock(systemId), { isLocked: false });
    t.equal(await reasonOf(maas.unlock(systemId)), "MACHINE_STATE");
    await maas.release(systemId);
    t.match(await untilStatus(maas, systemId, "ready"), { owner: undefined, ipAddresses: [], series: "" });
    const types = (await maas.events(systemId, 100)).map(({ type }) => type);
    t.ok(types.indexOf("Released") < types.indexOf("Deploying"), "newest first");
    t.equal((await maas.events(systemId, 1)).length, 1);
    t.ok((await maas.events(systemId, 1))[0]?.createdAtMs);
  });

  await t.test("allocates and installs a free machine with the given agent name", async (t) => {
    const { systemId } = await maas.choose({ tags: [tag] });
    t.match(await maas.deploy(systemId, { series, agentName }), { status: "deploying", owner: /./ });
    const found = await maas.machines({ agentName });
    t.same(
      found.map((machine) => machine.systemId),
      [systemId],
    );
    finishDeployment?.(systemId);
    await untilStatus(maas, systemId, "deployed");
    await maas.release(systemId);
    await untilStatus(maas, systemId, "ready");
  });

  await t.test("aborts a deployment and keeps the machine", async (t) => {
    const { systemId } = await maas.choose({ tags: [tag] });
    await maas.allocate({ systemId, agentName });
    await maas.deploy(systemId, { series });
    await maas.abort(systemId, "changed my mind");
    t.match(await untilStatus(maas, systemId, "allocated"), { owner: /./ });
    t.equal((await maas.machines({ agentName })).length, 1);
    await maas.release(systemId);
    await untilStatus(maas, systemId, "ready");
  });

  await t.test("reserves and releases an address", async (t) => {
    const address = await maas.reserveAddress({ subnet, hostname: "contract-api" });
    t.ok((await maas.addresses()).includes(address));
    t.equal(await reasonOf(maas.reserveAddress({ address })), "ADDRESS_TAKEN");
    await maas.releaseAddress(address);
    t.notOk((await maas.addresses()).includes(address));
    await maas.releaseAddress(address);
    t.equal(await maas.reserveAddress({ address, hostname: "contract-api.maas" }), address);
    await maas.releaseAddress(address);
    t.equal(await reasonOf(maas.reserveAddress({ subnet: "192.0.2.0/24" })), "MAAS_REFUSED");
  });

  await t.test("concurrent requests get distinct machines", async (t) => {
    const free = (await maas.machines()).filter(({ status }) => status === "ready");
    const requested = free.flatMap(({ systemId }) => [systemId, systemId]);
    const outcomes = await Promise.all(
      requested.map((systemId, index) =>
        reasonOf(maas.allocate({ systemId, agentName: `${agentName}/${index}` })),
      ),
    );
    t.equal(outcomes.filter((reason) => reason === undefined).length, free.length);
    t.equal(outcomes.filter((reason) => reason === "MACHINE_TAKEN").length, free.length);
    t.equal(await reasonOf(maas.choose({})), "NO_MACHINE");
    await Promise.all(free.map(({ systemId }) => maas.release(systemId)));
    await Promise.all(free.map(({ systemId }) => untilStatus(maas, systemId, "ready")));
  });
}
