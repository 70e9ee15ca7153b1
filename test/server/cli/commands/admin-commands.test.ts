import { randomBytes } from "node:crypto";
import { appendFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Test, test } from "tap";
import { type Data, dataWithStore, stop } from "../data-under-test.ts";
import { runInProcess } from "../run-in-process.ts";

async function administer(t: Test, { data, run, refused }: Data): Promise<void> {
  t.match(
    await run(["user", "add", "alice", "--role", "operator"], "correct horse\n"),
    /added the user alice/,
  );
  t.match(
    await run([
      "user",
      "add",
      "bot",
      "--role",
      "viewer",
      "--certificate",
      "CN=bot",
      "--services",
      "proto.VGService,proto.LVService",
    ]),
    /added the user bot/,
  );
  t.match(
    await run(["user", "list"]),
    /^NAME .*\nadmin +admin +all +password .*\nalice +operator +all .*\nbot +viewer +proto\.LVService,proto\.VGService +CN=bot .*\n$/,
  );
  t.match(await run(["user", "passwd", "alice"], "another password\n"), /ended all of its logins/);
  t.equal(
    await run(["user", "role", "bot", "operator"]),
    "bot is now operator, services: proto.LVService,proto.VGService\n",
  );
  t.equal(
    await run(["user", "role", "bot", "operator", "--all-services"]),
    "bot is now operator, services: all\n",
  );
  t.match(JSON.parse(await run(["user", "list", "-o", "json"])), [
    { name: "admin", role: "ROLE_ADMIN", hasPassword: true },
    { name: "alice", role: "ROLE_OPERATOR" },
    { name: "bot", role: "ROLE_OPERATOR", services: [], certificateNames: ["CN=bot"], hasPassword: false },
  ]);

  t.match(await run(["token", "create", "ci", "--role", "viewer", "--lifetime", "12h"]), /^hpt_[\w-]{48}\n$/);
  t.match(await run(["token", "list"]), /^NAME .*\nci +viewer +all +admin-socket +20\S+Z +never\n$/);
  t.match(JSON.parse(await run(["token", "list", "-o", "json"])), [
    { name: "ci", createdBy: "admin-socket" },
  ]);
  t.match(await run(["token", "revoke", "ci", "--yes"]), /revoked the token ci/);
  t.match(await run(["key", "rotate"]), /now signed with key \S+;/);

  t.match(await run(["user", "remove", "alice", "--yes"]), /removed the user alice/);

  const backup = join(data, "backup.db");
  const saved = await run(["store", "backup", backup]);
  t.match(
    saved,
    /^wrote .*backup\.db \(\d+ bytes\)\n.* without the master key .*sandbox\/key \(fingerprint [\da-f]{32}\): .*\n$/,
  );
  t.equal((await stat(backup)).mode & 0o777, 0o600);
  t.match(await refused(["store", "backup", backup]), { code: 1, stderr: /the file exists/ });

  await changeKey(t, { data, run, refused });
  await exportKeys(t, { data, run, refused });

  const lines = (await run(["audit", "export", "--actor", "admin-socket"])).trim().split("\n");
  const events = lines.map((line) => JSON.parse(line));
  t.match(events.at(-1), {
    rpc: "hostplane.v1.UserService/CreateUser",
    resource: "users/alice",
    outcome: "OK",
    sandbox: true,
  });
  t.notMatch(lines.join(), /horse|another password|hpt_/);
  const filters = ["--rpc", "hostplane.v1.UserService/DeleteUser", "--outcome", "OK", "--from", "2020-01-01"];
  t.match(JSON.parse(await run(["audit", "export", ...filters])), { resource: "users/alice" });
  t.equal(await run(["audit", "export", "--to", "2020-01-01"]), "");
}

async function changeKey(
  t: Test,
  { data, run, refused }: Pick<Data, "data" | "run" | "refused">,
): Promise<void> {
  const before = await run(["store", "key-status"]);
  t.match(before, /^in use {4}[\da-f]{32} \d+ secrets \(.*signing_keys 2.*\), from .*sandbox\/key\n$/);
  const [fingerprint = ""] = before.match(/[\da-f]{32}/) ?? [];
  t.match(await refused(["store", "change-key"]), {
    code: 1,
    stderr: /is already in use: add a new key after it/,
  });
  await appendFile(join(data, "sandbox", "key"), `${randomBytes(32).toString("base64")}\n`);
  const changed = await run(["store", "change-key"]);
  t.match(
    changed,
    /^the master key in use is now [\da-f]{32}\nencrypting all secrets again; .*\nno secret in the store needs .* any more: .*\n$/,
  );
  t.match(changed.split("\n")[2], fingerprint);
  t.notMatch(await run(["store", "key-status"]), fingerprint, "the replaced key is not listed any more");
}

async function exportKeys(
  t: Test,
  { data, run, refused }: Pick<Data, "data" | "run" | "refused">,
): Promise<void> {
  await run(["backup", "create", "monday", "sandbox-web", "--wait"]);
  const [keyFile, file] = [join(data, "second-key"), join(data, "exported-keys")];
  await writeFile(keyFile, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
  const args = ["store", "export-keys", file, "--key-file"];
  t.match(await refused([...args, join(data, "sandbox", "key")]), { code: 1, stderr: /is a master key/ });
  t.match(
    await run([...args, keyFile]),
    /^wrote .*exported-keys \(1 keys\); only the key in .* decrypts it\n$/,
  );
  t.match(await refused([...args, keyFile]), { code: 1, stderr: /EEXIST/ });
  t.equal((await stat(file)).mode & 0o777, 0o600);
  const printed = await runInProcess(["store", "print-keys", file, "--key-file", keyFile]);
  t.match(JSON.parse(printed.stdout), { name: /^key-/, key: /^[\w-]{43}$/, repository: String });
}

async function refuse(t: Test, { refused }: Data): Promise<void> {
  const refusals: readonly [readonly string[], number, RegExp, string?][] = [
    [["user", "remove", "admin", "--yes"], 1, /^hostplane: admin is the last admin .*\n$/],
    [["user", "remove", "nobody", "--yes"], 1, /^hostplane: user "nobody" not found\n$/],
    [["user", "add", "admin", "--role", "viewer"], 1, /user admin already exists/, "correct horse\n"],
    [["user", "add", "al", "--role", "viewer"], 2, /^hostplane: name: must be 3 to 24/, "correct horse\n"],
    [["user", "add", "carol", "--role", "viewer"], 2, /password: must have at least 8/, "short\n"],
    [
      ["user", "add", "carol", "--role", "viewer"],
      2,
      /^hostplane: expected the password as a single line on stdin/,
      "",
    ],
    [
      ["user", "add", "carol", "--role", "viewer"],
      2,
      /single line on stdin/,
      "correct horse\ncorrect horse\n",
    ],
    [["user", "add", "carol"], 2, /^hostplane: expected a role \(--role\) or grants \(--grant\)\n$/],
    [["user", "add", "carol", "--role", "root"], 2, /Allowed choices are viewer, operator, admin/],
    [["user", "role", "admin", "viewer", "--services", "a", "--all-services"], 2, /cannot be used with/],
    [["user", "role", "admin", "viewer", "--services", "no.Service"], 2, /unknown service "no.Service"/],
    [["token", "create", "ci", "--role", "viewer", "--lifetime", "30"], 2, /expected a number with a unit/],
    [["token", "revoke", "ci", "--yes"], 1, /API token "ci" not found/],
    [["audit", "export", "--from", "yesterday"], 2, /expected a time/],
  ];
  for (const [args, code, words, input] of refusals) {
    const ended = await refused(args, input);
    t.equal(ended.code, code, args.join(" "));
    t.match(ended.stderr, words);
    t.notMatch(ended.stderr, /^ {4}at |horse/m, "contains neither a stack nor a password");
    t.equal(ended.stdout, "");
  }
}

test("all commands work while the gateway is running", async (t) => {
  const data = await dataWithStore(t);
  const gateway = await data.serve();
  await administer(t, data);
  await refuse(t, data);
  await stop(gateway);
});
