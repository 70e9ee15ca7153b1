import { test } from "tap";
import { createResticSandbox } from "../../../../../adapters/restic/sandbox.ts";
import { BackupService } from "../../../../../gen/hostplane/v1/backup_pb.ts";
import { StateType } from "../../../../../gen/lvmd/served/lvmd_pb.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import { createGateway, createHost, settings } from "./backups-under-test.ts";

const { listBackups, deleteBackup } = BackupService.method;

test("a repository that is not mounted is not created again, and its backups stay listed", async (t) => {
  const host = await createHost(t);
  const anyAge = { ...settings, minimumAgeHours: 0 };
  const mounted = await createGateway(t, host, { settings: anyAge });
  t.equal((await mounted.backUp("a", "data")).state, StateType.COMPLETE);
  await mounted.close();

  const bare = createResticSandbox({ transferMs: 10 });
  const gateway = await createGateway(t, host, { settings: anyAge, restic: bare });
  const msg =
    /there is no repository at \/srv\/backup, although the gateway has backups there: mount its file system/;
  t.match(await gateway.backUp("b", "data"), { state: StateType.ERROR, msg });
  const [{ id } = { id: "" }] = (await gateway.call(listBackups, {})).backups;
  const { operation } = await gateway.call(deleteBackup, { id });
  t.match(await gateway.end(operation?.id ?? ""), {
    state: "failed",
    failure: { reason: "REPOSITORY_NOT_FOUND", message: msg },
  });
  t.match((await gateway.call(listBackups, {})).backups, [{ id }]);
  const elsewhere = { ...anyAge, repository: "/srv/other" };
  await gateway.close();
  const moved = await createGateway(t, host, { settings: elsewhere, restic: bare });
  t.equal((await moved.backUp("b", "data")).state, StateType.COMPLETE);
  await moved.close();

  const again = await createGateway(t, host, { settings: anyAge });
  const deleted = (await again.call(deleteBackup, { id })).operation;
  t.equal((await again.end(deleted?.id ?? "")).state, "completed", "once it is mounted");
});

test("two gateways that share a store do not create a repository at the same time", async (t) => {
  const restic = createResticSandbox({ transferMs: 10 });
  let creating = 0;
  let most = 0;
  const slow: typeof restic = {
    ...restic,
    async ensureRepository(repository, signal) {
      creating += 1;
      most = Math.max(most, creating);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await restic.ensureRepository(repository, signal);
      creating -= 1;
    },
  };
  const host = await createHost(t, { restic: slow });
  const alpha = await createGateway(t, host);
  const beta = await createGateway(t, host, { host: "beta" });
  const ended = await Promise.all([alpha.backUp("a", "data"), beta.backUp("a", "small")]);
  t.match(ended, [{ state: StateType.COMPLETE }, { state: StateType.COMPLETE }]);
  t.equal(most, 1);
});

test("the creation of a repository is locked until its owner releases it or the lease expires", async (t) => {
  const store = await openOwnStore(t);
  const claim = (owner: string, leaseMs = 60_000) =>
    store.run("repositoryMakings.claim", { repository: "r", owner, leaseMs });
  const release = (owner: string) => store.run("repositoryMakings.release", { repository: "r", owner });
  t.same(await claim("one"), { ok: true });
  t.same(await claim("one"), { ok: true }, "after a restart");
  t.same(await claim("two"), { ok: false });
  await release("two");
  t.same(await claim("two"), { ok: false }, "only the owner can release it");
  await release("one");
  t.same(await claim("two", -1), { ok: true });
  t.same(await claim("one"), { ok: true }, "the lease has expired");
});
