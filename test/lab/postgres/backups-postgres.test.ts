import { type Test, test } from "tap";
import { createResticSandbox } from "../../../adapters/restic/sandbox.ts";
import { BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { LVService, StateType } from "../../../gen/lvmd/served/lvmd_pb.ts";
import {
  createGateway,
  createHost,
  settings,
  volumeNames,
} from "../../server/domains/volumes/backups/backups-under-test.ts";
import { createMortalStore } from "../../server/operations/engine-under-test.ts";
import { openOwnStore } from "../../server/store/own-store.ts";
import { type PostgresCluster, reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();

/** A host with two stores on one database, one for each gateway. */
async function createSharedHost(t: Test, postgres: PostgresCluster, transferMs = 30) {
  const url = await postgres.createDatabase();
  const restic = createResticSandbox({ transferMs });
  const host = await createHost(t, { restic, store: await openOwnStore(t, { url, directory: "" }) });
  return { host, otherStore: await openOwnStore(t, { url, directory: "" }) };
}

test("backups on one PostgreSQL", { skip, timeout: 300_000 }, async (t) => {
  const postgres = await startPostgres(t);

  t.test("a retention without backups to remove succeeds", async (t) => {
    const { host } = await createSharedHost(t, postgres);
    await t.resolves(host.store.run("backups.remove", { ids: [] }));
  });

  t.test("simultaneous polls of a host's two gateways start one backup", async (t) => {
    const { host, otherStore } = await createSharedHost(t, postgres);
    const first = await createGateway(t, host, { settings: { ...settings, minimumAgeHours: 0 } });
    const second = await createGateway(t, host, { store: otherStore });
    const gateways = [first, second, first, second, first, second];
    const polls = await Promise.all(gateways.map((gateway) => gateway.poll("a", "data")));
    t.equal(new Set(polls.map(({ operationId }) => operationId)).size, 1);
    await second.end(polls[0]?.operationId ?? "");
    for (const gateway of gateways) {
      t.equal((await gateway.poll("a", "data")).state, StateType.COMPLETE);
    }
    const { backups } = await second.call(BackupService.method.listBackups, { volume: "volumeGroups/vg0" });
    t.match(backups, [{ name: "a", sizeBytes: 2n ** 31n }]);
    const dataSource = { synchronousRestore: true };
    const { volume } = await second.call(LVService.method.createLV, {
      name: "again",
      sizeGb: 2n,
      dataSource,
    });
    t.match(volume, { name: "again" });
    const id = backups[0]?.id ?? "";
    const { operation } = await first.call(BackupService.method.deleteBackup, { id });
    await second.end(operation?.id ?? "");
    t.same((await second.call(BackupService.method.listBackups, {})).backups, []);
    t.equal((await second.backUp("a", "data")).state, StateType.COMPLETE, "the name is free");
  });

  t.test("another gateway of the host continues when the first one dies", async (t) => {
    const { host, otherStore } = await createSharedHost(t, postgres, 200);
    const mortal = createMortalStore(host.store);
    const storing = Promise.withResolvers<void>();
    const doomed = await createGateway(t, host, {
      store: mortal,
      leaseMs: 1000,
      boundary(name) {
        if (name === "before forward store") {
          mortal.die();
          storing.resolve();
          return new Promise<void>(() => {});
        }
      },
    });
    const { operationId } = await doomed.poll("a", "data");
    await storing.promise;
    const heir = await createGateway(t, host, { store: otherStore, leaseMs: 1000 });
    t.match(await heir.end(operationId), { state: "completed" });
    t.equal((await heir.poll("a", "data")).state, StateType.COMPLETE);
    t.same(await volumeNames(host.lvm), ["vg0/data", "vg1/pool", "vg1/small"]);
  });
});
