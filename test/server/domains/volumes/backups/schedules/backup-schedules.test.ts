import { test } from "tap";
import { InfraError } from "../../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../../adapters/host/reasons.ts";
import { createResticSandbox } from "../../../../../../adapters/restic/sandbox.ts";
import { createHost, withState } from "../backups-under-test.ts";
import { createSchedulesGateway, createSharedHost, hour, hourly } from "./schedules-under-test.ts";

const data = "volumeGroups/vg0/volumes/data";
const small = "volumeGroups/vg1/volumes/small";
const ofData = { ...hourly, volumes: ["da?a", "none*"] };

/** Creates a restic that stores nothing until `go` is called. */
function createHeldRestic() {
  const restic = createResticSandbox({ transferMs: 10 });
  const go = Promise.withResolvers<void>();
  const held: typeof restic = {
    ...restic,
    async backup(...args) {
      await go.promise;
      return restic.backup(...args);
    },
  };
  return { restic: held, go: () => go.resolve() };
}

test("a slot begins one backup of each volume, as an ordinary operation", async (t) => {
  const gateway = await createSchedulesGateway(t, await createHost(t), [hourly]);
  await gateway.runAll(hour(5) + 1);
  t.match(await gateway.all(), [
    {
      kind: "volumes.backup",
      resource: data,
      state: "completed",
      actor: "schedule/hourly",
      rpc: "proto.LVService/CreateBackup",
      host: "alpha",
    },
    { kind: "volumes.backup", resource: small, state: "completed", actor: "schedule/hourly" },
  ]);
  const row = {
    name: "hourly-20261121T0500Z",
    schedule: "hourly",
    actor: "schedule/hourly",
    key_name: /^key-/,
  };
  const rows = (await gateway.backups()).toSorted((a, b) => (a.volume < b.volume ? -1 : 1));
  t.match(rows, [
    { ...row, volume: data },
    { ...row, volume: small },
  ]);
  await gateway.runAll(hour(5) + 3_599_000);
  t.equal((await gateway.all()).length, 2, "nothing more until the next slot");
  await gateway.runAll(hour(6));
  t.equal((await gateway.all()).length, 4);
  t.same(gateway.logged, []);
});

test("only the volumes of a schedule are backed up, without snapshots and operations' own volumes", async (t) => {
  const host = await createHost(t);
  const at = { kind: "create", volumeGroupName: "vg0", sizeBytes: 1n << 30n } as const;
  await host.lvm.run({ ...at, name: "data2", tags: ["hostplane-operation-x"] });
  await host.lvm.run({ ...at, name: "other", tags: [] });
  const snapshot = { kind: "snapshot", volumeGroupName: "vg0", originName: "data", tags: [] } as const;
  await host.lvm.run({ ...snapshot, name: "data3", roomBytes: 1n << 28n });
  const thin = { ...hourly, name: "thin", deviceClass: "thin" };
  const gateway = await createSchedulesGateway(t, host, [{ ...hourly, volumes: ["data*"] }, thin]);
  await gateway.runAll(hour(5));
  t.same(
    (await gateway.all()).map(({ actor, resource }) => [actor, resource]),
    [
      ["schedule/hourly", data],
      ["schedule/thin", small],
    ],
  );
});

test("of two gateways on a host, only one begins each slot", async (t) => {
  const host = await createSharedHost(t);
  const gateways = await Promise.all([1, 2].map(() => createSchedulesGateway(t, host, [hourly])));
  for (let slot = 1; slot <= 5; slot += 1) {
    await Promise.all(gateways.map(({ schedules }) => schedules.runDue(hour(slot))));
    await Promise.all(gateways.map((gateway) => gateway.runAll(hour(slot) + 10_000)));
  }
  const [gateway] = gateways;
  const operations = (await gateway?.all()) ?? [];
  t.equal(operations.length, 10);
  t.ok(operations.every(({ state }) => state === "completed"));
  const rows = (await gateway?.backups()) ?? [];
  t.equal(new Set(rows.map(({ volume, name }) => `${volume} ${name}`)).size, 10);
});

test("gateways on two hosts with equal volume names each back up their own", async (t) => {
  const host = await createSharedHost(t);
  const alpha = await createSchedulesGateway(t, host, [ofData]);
  const beta = await createSchedulesGateway(t, host, [ofData], { host: "beta" });
  await Promise.all([alpha.schedules.runDue(hour(1)), beta.schedules.runDue(hour(1))]);
  await alpha.runAll(hour(1));
  await beta.runAll(hour(1));
  t.same((await alpha.backups()).map(({ host }) => host).toSorted(), ["alpha", "beta"]);
});

test("only the newest missed slot is run, and no slot runs twice", async (t) => {
  const host = await createHost(t);
  const before = await createSchedulesGateway(t, host, [ofData]);
  await before.runAll(hour(1));
  await before.close();
  const again = await createSchedulesGateway(t, host, [ofData]);
  await again.runAll(hour(1) + 1000);
  t.equal((await again.all()).length, 1, "the slot has already begun");
  await again.close();
  const later = await createSchedulesGateway(t, host, [ofData]);
  await later.runAll(hour(7) + 1_800_000);
  t.same(
    (await later.backups()).map(({ name }) => name),
    ["hourly-20261121T0100Z", "hourly-20261121T0700Z"],
  );
});

test("a failed backup is visible, and is not retried before the next slot", async (t) => {
  const plain = await createSharedHost(t);
  const lvm = withState(plain.lvm, (state) => ({
    ...state,
    volumes: state.volumes.map((one) => (one.name === "data" ? { ...one, active: false } : one)),
  }));
  const gateway = await createSchedulesGateway(t, plain, [ofData], { lvm });
  await gateway.runAll(hour(1));
  const failed = { state: "failed", failure: { reason: "VOLUME_INACTIVE" } };
  t.match(await gateway.all(), [failed]);
  const restarted = await createSchedulesGateway(t, plain, [ofData], { lvm });
  await restarted.runAll(hour(1) + 1000);
  t.equal((await gateway.all()).length, 1);
  await gateway.runAll(hour(2));
  t.match(await gateway.all(), [failed, failed]);
});

test("a volume whose earlier backup is still running is skipped with a warning", async (t) => {
  const { restic, go } = createHeldRestic();
  const gateway = await createSchedulesGateway(t, await createHost(t, { restic }), [ofData]);
  await gateway.schedules.runDue(hour(1));
  await gateway.schedules.runDue(hour(2));
  await gateway.schedules.runDue(hour(2) + 15_000);
  const [first] = await gateway.all();
  t.same(gateway.logged, [
    `hourly-20261121T0200Z of ${data} is skipped: operation ${first?.id} of an earlier slot has not ended: undefined`,
  ]);
  go();
  await gateway.runAll(hour(2) + 30_000);
  t.equal((await gateway.all()).length, 1);
  await gateway.runAll(hour(3));
  t.match(await gateway.all(), [{ state: "completed" }, { state: "completed" }]);
});

test("a slot that temporarily cannot begin is begun as soon as possible", async (t) => {
  const host = await createHost(t);
  let isBroken = true;
  const read: typeof host.lvm.read = async (signal) => {
    if (isBroken) {
      throw new InfraError(hostReasons.TOOL_MISSING, "lvm is not there");
    }
    return host.lvm.read(signal);
  };
  const gateway = await createSchedulesGateway(t, host, [ofData], { lvm: { ...host.lvm, read } });
  await gateway.schedules.runDue(hour(1));
  await gateway.schedules.runDue(hour(1) + 15_000);
  t.match(gateway.logged, [/^hourly-20261121T0100Z failed: .*lvm is not there/], "logged once");
  isBroken = false;
  await gateway.runAll(hour(1) + 30_000);
  t.match(await gateway.backups(), [{ name: "hourly-20261121T0100Z" }]);
});

test("a schedule that matches no volume is logged once per slot", async (t) => {
  const gateway = await createSchedulesGateway(t, await createHost(t), [{ ...hourly, volumes: ["a*", "b"] }]);
  await gateway.runAll(hour(1));
  await gateway.runAll(hour(1) + 15_000);
  t.match(gateway.logged, [/^hourly-20261121T0100Z backs up nothing: no volume matches a\* or b/]);
});
