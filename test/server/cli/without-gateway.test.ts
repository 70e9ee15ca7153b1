import { stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "tap";
import { dataWithStore, stop } from "./data-under-test.ts";
import { openSandboxStore } from "./open-sandbox-store.ts";
import { runInProcess } from "./run-in-process.ts";

test("the commands work without a running gateway, also after one was killed", async (t) => {
  const data = await dataWithStore(t);
  const { run } = data;
  await stop(await data.serve(), "SIGKILL");
  t.ok((await stat(join(data.data, "sandbox", "admin.sock"))).isSocket(), "its socket is left over");
  t.match(
    await run(["user", "add", "alice", "--role", "operator"], "correct horse\n"),
    /added the user alice/,
  );
  t.match(await run(["user", "list"]), /admin +admin .*\nalice +operator /);
  t.match(await run(["token", "create", "ci", "--role", "viewer"]), /^hpt_/);
  t.match(await run(["key", "rotate"]), /signed with key/);
  t.match(await run(["store", "backup", join(data.data, "backup.db")]), /^wrote .*backup\.db/);
  t.match(await run(["audit", "export"]), /"rpc":"hostplane\.v1\.UserService\/CreateUser"/);
  t.match(await data.refused(["user", "remove", "admin", "--yes"]), { code: 1, stderr: /last admin/ });
  const gateway = await data.serve();
  t.match(await run(["user", "list"]), /alice +operator /, "a gateway keeps the change");
  await stop(gateway);
});

test("without a store nothing is created, and the error says how to create one", async (t) => {
  const { data, refused } = await dataWithStore(t);
  const ended = await refused(["user", "list"]);
  t.match(ended, {
    code: 1,
    stdout: "",
    stderr:
      /^hostplane: database .*hostplane\.db not found: run `hostplane serve --sandbox` once to create it\n$/,
  });
  await t.rejects(stat(join(data, "sandbox")), { code: "ENOENT" });
});

test("on the store of a stopped sandbox", async (t) => {
  const served = await dataWithStore(t);
  await stop(await served.serve());

  await t.test("concurrent commands wait for each other", async (t) => {
    const names = ["one", "two"];
    const ends = await Promise.all(
      names.map((name) => served.inOwnProcess(["token", "create", name, "--role", "viewer"])),
    );
    t.match(ends, [{ code: 0 }, { code: 0 }]);
    const tokens: { name: string }[] = JSON.parse(
      (await served.refused(["token", "list", "-o", "json"])).stdout,
    );
    t.same(
      tokens.map(({ name }) => name),
      names.toSorted(),
    );
  });

  await t.test("the real gateway and the sandbox have separate stores", async (t) => {
    const ended = await runInProcess(["user", "list", "--data", served.data]);
    t.match(ended, { code: 1, stderr: /database .* not found/ });
  });

  await t.test("store copy only copies to the PostgreSQL database in the configuration", async (t) => {
    const { data } = served;
    const nowhere = await runInProcess(["store", "copy", "--data", data]);
    t.match(nowhere, { code: 2, stderr: /^hostplane: no target: .*HOSTPLANE_STORE.*\n$/ });
    const secret = "postgres://user:a-secret@127.0.0.1:1/nothing";
    const argument = await runInProcess(["store", "copy", "--data", data, "--set", `store=${secret}`]);
    t.match(argument, { code: 2, stderr: /every user of the host can read arguments/ });
    const unreachable = await runInProcess(["store", "copy", "--data", join(data, "none")], {
      env: { HOSTPLANE_STORE: secret },
    });
    t.equal(unreachable.code, 1);
    t.notMatch(argument.stderr + unreachable.stderr, /a-secret/);
  });

  await t.test("the process that uses the store is reported", async (t) => {
    // Opens the database without an admin socket.
    await openSandboxStore(t, served.data);
    const ended = await served.inOwnProcess(["user", "list"]);
    t.match(ended, { code: 1, stderr: new RegExp(`is in use by process ${process.pid}\\b`) });
  });
});
