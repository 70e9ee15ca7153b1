import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pino } from "pino";
import { type Test, test } from "tap";
import { createStoreInspector } from "../../../../server/cli/doctor/inspect-store.ts";
import { masterKeysFromText } from "../../../../server/crypto/master-keys.ts";
import { openData } from "../../../../server/gateway/open-data.ts";
import { startGatewayUnderTest } from "../../harness/gateway-under-test.ts";
import { openOwnStore } from "../../store/own-store.ts";

const logger = pino({ level: "silent" });
const anotherKey = Buffer.alloc(32, 7).toString("base64");

/** Creates a directory with a path short enough for a socket, unlike some fixture directories. */
async function shortDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  return directory;
}

/** Creates a data directory as a gateway leaves it. */
async function usedDirectory(t: Test, isSandbox = false): Promise<string> {
  const data = await shortDirectory(t);
  const config = { data, store: "sqlite" };
  const opened = await openData({
    config,
    isSandbox,
    environmentKey: undefined,
    logger,
    onLost: (error) => t.fail(error.message),
  });
  await opened.store.close();
  return opened.directory;
}

async function findingsOf(data: string, environmentKey?: string) {
  return (await createStoreInspector({ data, store: "sqlite" }, environmentKey).inspect()).findings;
}

const program = fileURLToPath(new URL("./inspect-store-process.ts", import.meta.url));

/** Returns the findings of a user other than root, even if the test runs as root. */
async function unprivilegedFindingsOf(data: string) {
  const { stdout } = await promisify(execFile)(process.execPath, [program, data]);
  return JSON.parse(stdout);
}

test("nothing is missing before the first start", async (t) => {
  const data = await shortDirectory(t);
  t.match(await findingsOf(data), [
    { ok: true, what: /first start creates it/ },
    { ok: true, what: /master key .* does not exist yet/ },
  ]);
  t.same(readdirSync(data), [], "nothing is created");
});

test("a store and its key match, and the check changes neither", async (t) => {
  const data = await usedDirectory(t);
  const before = readdirSync(data);
  t.match(await findingsOf(data), [
    { ok: true, what: /hostplane\.db found/ },
    { ok: true, what: /key matches the store$/ },
  ]);
  t.same(readdirSync(data), before);
});

test("a replaced key that is still needed is reported when its line is missing", async (t) => {
  const data = await usedDirectory(t);
  const file = join(data, "key");
  const replaced = (await readFile(file, "utf8")).trim();
  const next = masterKeysFromText(anotherKey, "the next key");
  const store = await openOwnStore(t, {
    directory: data,
    keyCheck: masterKeysFromText(replaced, file).current.fingerprint,
  });
  await store.run("masterKeys.begin", { fingerprint: next.current.fingerprint, silentMs: 0 });
  await store.close();
  await writeFile(file, `${replaced}\n${anotherKey}\n`);
  t.match(await findingsOf(data), [{ ok: true }, { ok: true, what: /key matches the store$/ }]);
  await writeFile(file, `${anotherKey}\n`);
  t.match(await findingsOf(data), [{ ok: true }, { ok: false, what: /still need the replaced master key/ }]);
});

test("a lost key, a wrong key and an invalid database are reported with the fix", async (t) => {
  const data = await usedDirectory(t);
  t.match(await findingsOf(data, anotherKey), [
    { ok: true },
    { ok: false, what: /HOSTPLANE_KEY does not match the store/, fix: /original key/ },
  ]);
  await rm(join(data, "key"));
  t.match(await findingsOf(data), [{ ok: true }, { ok: false, what: /is missing/, fix: /restore the key/ }]);
  await writeFile(
    join(data, "hostplane.db"),
    "no database at all, but long enough to be taken for one".repeat(100),
  );
  t.match(await findingsOf(data), [{ ok: false, fix: /upgrade\.md/ }]);
});

test("a key that others can read is made private, not restored", async (t) => {
  const data = await usedDirectory(t);
  await chmod(join(data, "key"), 0o644);
  t.match(await findingsOf(data), [
    { ok: true },
    { ok: false, what: /may be read or changed by others/, fix: `chmod 600 ${join(data, "key")}` },
  ]);
});

test("damaged pages are found although the database's metadata can be read", async (t) => {
  const data = await usedDirectory(t);
  const file = join(data, "hostplane.db");
  const database = new DatabaseSync(file);
  // Moves the contents of the write-ahead log into the file.
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const { rootpage } = database
    .prepare("select rootpage from sqlite_master where name = 'operations'")
    .get() as { rootpage: number };
  const { page_size: pageSize } = database.prepare("PRAGMA page_size").get() as { page_size: number };
  database.close();
  const content = await readFile(file);
  content.fill(0x5a, (rootpage - 1) * pageSize, rootpage * pageSize);
  await writeFile(file, content);
  t.match(await findingsOf(data), [
    { ok: false, what: /hostplane\.db .*(damaged|malformed)/, fix: /upgrade\.md/ },
  ]);
});

test("a sandbox's store is rejected by a real gateway", async (t) => {
  const data = await usedDirectory(t, true);
  t.match(await findingsOf(data), [{ ok: false, what: /to a sandbox gateway/, fix: /--data/ }, {}]);
});

test("a store of a newer version is rejected", async (t) => {
  const data = await usedDirectory(t);
  const database = new DatabaseSync(join(data, "hostplane.db"));
  database.exec("update meta set value = '99' where name = 'schema_version'");
  database.close();
  t.match(await findingsOf(data), [{ ok: false, what: /newer version of hostplane/ }, { ok: true }]);
});

test("a data directory or database that this user cannot read is reported as a permission problem", async (t) => {
  const data = await usedDirectory(t);
  const fix = /^run this command as the gateway's user \(`sudo -u hostplane hostplane doctor`\)/;
  t.teardown(() => chmod(data, 0o700));
  await chmod(data, 0o000);
  t.match(await unprivilegedFindingsOf(data), [{ ok: false, what: new RegExp(`EACCES.*${data}'$`), fix }]);
  const database = join(data, "hostplane.db");
  await chmod(data, 0o755);
  await chmod(database, 0o000);
  t.match(await unprivilegedFindingsOf(data), [
    { ok: false, what: new RegExp(`EACCES.*${database}'$`), fix },
  ]);
});

test("a store used by a running gateway is fine", async (t) => {
  const directory = await shortDirectory(t);
  await startGatewayUnderTest(t, { data: directory });
  t.match(await findingsOf(join(directory, "sandbox")), [
    { ok: true, what: /in use by a running hostplane/ },
  ]);
});
