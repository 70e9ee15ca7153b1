import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "tap";
import { gatewayModules } from "../../../server/gateway/store-modules.ts";
import { openStore } from "../../../server/store/open-store.ts";
import { hostplane, main, start } from "../../server/cli/run-hostplane.ts";
import { postgresPassword, reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();
const options = skip === false ? {} : { skip };
const volumes = "volumes: { deviceClasses: [{ name: a, volumeGroup: b, default: true }] }\n";

test("store copy moves users to PostgreSQL, where the user commands work on them", options, async (t) => {
  const cluster = await startPostgres(t);
  const url = await cluster.createDatabase();
  const data = await mkdtemp(join(tmpdir(), "hp-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const config = join(data, "a.yaml");
  await writeFile(config, volumes);
  const target = ["--config", config, "--data", data];
  const listen = ["--listen", "127.0.0.1:0"];
  const gateway = start([process.execPath, main, "serve", ...target, ...listen]);
  t.teardown(() => gateway.child.kill("SIGKILL"));
  await gateway.untilPrinted(/First start/);
  const added = await hostplane(
    ["user", "add", "alice", "--role", "viewer", ...target],
    {},
    "correct horse\n",
  );
  t.equal(added.code, 0, added.stderr);

  const shared = { HOSTPLANE_STORE: url };
  const early = await hostplane(["store", "copy", ...target], shared);
  t.match(early, { code: 1, stderr: new RegExp(`is in use by process ${gateway.child.pid}`) });
  gateway.child.kill("SIGTERM");
  await gateway.ended;
  const copied = await hostplane(["store", "copy", ...target], shared);
  t.match(copied, { code: 0, stdout: /^users: 2$[\s\S]*^copied to postgres:\/\/[^@]*; a gateway/m });
  const again = await hostplane(["store", "copy", ...target], shared);
  t.match(again, { code: 1, stderr: /already contains a store/ });

  const listed = await hostplane(["user", "list", ...target], shared);
  t.match(listed, { code: 0, stdout: /^admin .*\nalice +viewer /m });
  const backup = await hostplane(["store", "backup", join(data, "b.db"), ...target], shared);
  t.match(backup, { code: 1, stderr: /pg_dump/ });
  for (const { stdout, stderr } of [early, copied, again, listed, backup]) {
    t.notOk(
      (stdout + stderr).includes(encodeURIComponent(postgresPassword)) ||
        (stdout + stderr).includes(postgresPassword),
    );
  }
});

test(
  "when two admins demote each other through two gateways at once, one remains admin",
  options,
  async (t) => {
    const cluster = await startPostgres(t);
    const url = await cluster.createDatabase();
    const log = { info() {}, warn() {}, fatal() {} };
    const open = async () => {
      const store = await openStore({
        modules: gatewayModules,
        url,
        directory: "",
        kind: "real",
        keyCheck: "key",
        log,
      });
      t.teardown(() => store.close());
      return store;
    };
    const [one, other] = [await open(), await open()];
    const admin = { role: "admin", services: null, passwordHash: "hash", certificateNames: [] };
    for (const name of ["first", "second"]) {
      await one.run("users.create", { id: randomUUID(), name, ...admin });
    }
    for (let round = 0; round < 50; round += 1) {
      const demote = { role: "viewer" };
      const ended = await Promise.all([
        one.run("users.update", { name: "second", change: demote }),
        other.run("users.update", { name: "first", change: demote }),
      ]);
      t.same(ended.map(({ ok }) => ok).toSorted(), [false, true], `round ${round}`);
      for (const name of ["first", "second"]) {
        await other.run("users.update", { name, change: { role: "admin" } });
      }
    }
  },
);
