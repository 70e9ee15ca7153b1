import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "tap";
import {
  contextNamed,
  contextsFile,
  readContexts,
  writeContexts,
} from "../../../../server/cli/target/contexts.ts";

const alice = { url: "https://a.example.org", actor: "user/alice", token: "secret", isLogin: true };

test("contexts are kept in the user's configuration directory", async (t) => {
  t.equal(contextsFile({ XDG_CONFIG_HOME: "/c" }), "/c/hostplane/contexts.json");
  t.equal(contextsFile({ XDG_CONFIG_HOME: "" }), join(homedir(), ".config/hostplane/contexts.json"));
});

test("contexts are read as they were written, by their owner only", async (t) => {
  const file = join(t.testdir(), "new", "contexts.json");
  t.same(await readContexts(file), { contexts: {} });
  await writeContexts(file, { current: "a", contexts: { a: alice } });
  t.equal((await stat(file)).mode & 0o777, 0o600);
  t.same(await readContexts(file), { current: "a", contexts: { a: alice } });
  await writeContexts(file, { contexts: {} });
  t.same(await readContexts(file), { contexts: {} });
  await chmod(file, 0o640);
  await t.rejects(readContexts(file), {
    message: `other users can read the tokens in ${file}: run chmod 600 ${file}`,
  });
  await chmod(file, 0o600);
  for (const text of ["", "{", "[]", '{"contexts": {"a": {}}}', '{"contexts": {"a": {"url": "x"}}}']) {
    await writeFile(file, text);
    await t.rejects(readContexts(file), { message: /is damaged: remove it and log in again/ }, text);
  }
  t.equal(await readFile(file, "utf8"), '{"contexts": {"a": {"url": "x"}}}', "it is not repaired silently");
});

test("an unknown context is reported with the known ones", async (t) => {
  t.same(contextNamed({ contexts: { a: alice } }, "a"), alice);
  t.throws(() => contextNamed({ contexts: { a: alice } }, "b"), {
    message: 'context "b" not found (known: a)',
  });
  t.throws(() => contextNamed({ contexts: {} }, "toString"), { message: /known: none; create one with/ });
});
