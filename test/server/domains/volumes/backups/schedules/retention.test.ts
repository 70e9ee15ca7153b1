import { test } from "tap";
import { InfraError } from "../../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../../adapters/host/reasons.ts";
import { resticReasons } from "../../../../../../adapters/restic/reasons.ts";
import { createResticSandbox } from "../../../../../../adapters/restic/sandbox.ts";
import type { SandboxTransfer } from "../../../../../../adapters/restic/sandbox-transfers.ts";
import { createStepFaults } from "../../../../../../adapters/sandbox/step-faults.ts";
import { createHost } from "../backups-under-test.ts";
import {
  createSchedulesGateway,
  createSharedHost,
  hour,
  hourly,
  type SchedulesGateway,
} from "./schedules-under-test.ts";

const keep = { last: 2, daily: 0, weekly: 0 };
const keepTwo = { ...hourly, keep };

async function namesOf({ backups }: SchedulesGateway): Promise<string[]> {
  return (await backups())
    .map(({ volume, name }) => `${volume.split("/").at(-1)} ${name.slice(-5)}`)
    .toSorted();
}

async function retentions({ all }: SchedulesGateway) {
  return (await all()).filter(({ kind }) => kind === "volumes.applyRetention");
}

async function runHours(gateway: SchedulesGateway, count: number): Promise<void> {
  for (let slot = 1; slot <= count; slot += 1) {
    await gateway.runAll(hour(slot));
  }
}

/** Creates a restic with a function that lists its snapshots. */
function createKnownRestic() {
  const restic = createResticSandbox({ transferMs: 10 });
  let repository: Parameters<typeof restic.list>[0] | undefined;
  const watched: typeof restic = {
    ...restic,
    ensureRepository(one, signal) {
      repository = one;
      return restic.ensureRepository(one, signal);
    },
  };
  return {
    restic: watched,
    async snapshotIds() {
      const stored = repository && (await restic.list(repository, [], AbortSignal.timeout(60_000)));
      return (stored ?? []).map(({ id }) => id).toSorted();
    },
  };
}

test("only backups that a schedule does not keep are removed from repository and list", async (t) => {
  const { restic, snapshotIds } = createKnownRestic();
  const host = await createHost(t, { restic });
  const plain = { ...hourly, name: "plain", volumes: ["data"] };
  const gateway = await createSchedulesGateway(t, host, [plain, keepTwo]);
  await runHours(gateway, 4);
  const small = ["small 0300Z", "small 0400Z"];
  const data = ["0100Z", "0200Z", "0300Z", "0300Z", "0400Z", "0400Z"].map((time) => `data ${time}`);
  t.same(await namesOf(gateway), [...data, ...small], "the schedule without keep retains all its backups");
  const rows = await gateway.backups();
  t.same(await snapshotIds(), rows.map(({ snapshot_id }) => snapshot_id).toSorted());
  const done = await retentions(gateway);
  t.equal(done.length, 4, "one per slot, for all volumes at once");
  t.match(done.at(-1), {
    resource: "backupSchedules/hourly",
    state: "completed",
    actor: "schedule/hourly",
    rpc: "hostplane.v1.BackupService/DeleteBackup",
    result: { deleted: [/./, /./] },
  });
  t.same(gateway.logged, []);
});

test("a backup below the minimum age is kept", async (t) => {
  const gateway = await createSchedulesGateway(t, await createHost(t), [keepTwo], { minimumAgeHours: 1 });
  await runHours(gateway, 3);
  t.equal((await gateway.backups()).length, 6);
  t.match((await retentions(gateway)).at(-1), { state: "completed", result: { deleted: [] } });
});

test("only one of two gateways applies the retention of a slot", async (t) => {
  const host = await createSharedHost(t);
  const gateways = await Promise.all([1, 2].map(() => createSchedulesGateway(t, host, [keepTwo])));
  for (let slot = 1; slot <= 3; slot += 1) {
    await Promise.all(gateways.map((gateway) => gateway.runAll(hour(slot))));
  }
  for (const gateway of gateways) {
    t.equal((await retentions(gateway)).length, 3);
    t.equal((await gateway.backups()).length, 4);
  }
});

test("retention that a stopped gateway missed is applied later", async (t) => {
  const host = await createHost(t);
  const none = await createSchedulesGateway(t, host, [hourly]);
  await runHours(none, 3);
  await none.close();
  const gateway = await createSchedulesGateway(t, host, [keepTwo]);
  await gateway.runAll(hour(3) + 1000);
  t.same(await namesOf(gateway), ["data 0200Z", "data 0300Z", "small 0200Z", "small 0300Z"]);
});

test("a slot without a new backup removes none", async (t) => {
  let isBroken = false;
  const fault = ({ kind }: SandboxTransfer) =>
    kind === "backup" && isBroken ? new InfraError(hostReasons.TOOL_FAILED, "no") : undefined;
  const host = await createHost(t, {
    restic: createResticSandbox({ transferMs: 10, faults: createStepFaults(fault) }),
  });
  const gateway = await createSchedulesGateway(t, host, [keepTwo]);
  await runHours(gateway, 2);
  isBroken = true;
  await gateway.runAll(hour(3));
  t.equal((await retentions(gateway)).length, 2);
  t.equal((await gateway.backups()).length, 4);
});

test("backups stay listed if they cannot be removed from the repository, and the failure is visible", async (t) => {
  let isLocked = true;
  const fault = ({ kind }: SandboxTransfer) =>
    kind === "forget" && isLocked ? new InfraError(resticReasons.REPOSITORY_DENIED, "read-only") : undefined;
  const host = await createHost(t, {
    restic: createResticSandbox({ transferMs: 10, faults: createStepFaults(fault) }),
  });
  const gateway = await createSchedulesGateway(t, host, [keepTwo]);
  await runHours(gateway, 3);
  t.match((await retentions(gateway)).at(-1), { state: "failed", failure: { reason: "REPOSITORY_DENIED" } });
  t.equal((await gateway.backups()).length, 6);
  isLocked = false;
  await gateway.runAll(hour(4));
  t.equal((await gateway.backups()).length, 4, "the next slot removes them");
});

test("an intact backup is not removed in favor of damaged ones", async (t) => {
  const host = await createHost(t);
  const gateway = await createSchedulesGateway(t, host, [{ ...keepTwo, volumes: ["data"] }]);
  await runHours(gateway, 2);
  const [first, second] = await gateway.backups();
  await host.store.run("backups.verified", { id: second?.id ?? "", damage: "a pack is broken" });
  await gateway.schedules.runDue(hour(3));
  const [third] = (await gateway.all()).slice(-1);
  t.equal((await gateway.operations.ended(third?.id ?? "", AbortSignal.timeout(60_000))).state, "completed");
  const newest = (await gateway.backups()).at(-1);
  await host.store.run("backups.verified", { id: newest?.id ?? "", damage: "a pack is broken" });
  await gateway.runAll(hour(3));
  t.match(
    (await gateway.backups()).map(({ id }) => id),
    [first?.id, second?.id, newest?.id],
  );
});
