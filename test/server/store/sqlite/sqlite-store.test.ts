import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  watch,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "tap";
import { gatewayModules } from "../../../../server/gateway/store-modules.ts";
import { openStore } from "../../../../server/store/open-store.ts";
import { readStoreFacts } from "../../../../server/store/read-store-facts.ts";
import { assertRunsOnce } from "../../rpc/interceptors/idempotency-contract.ts";
import { errorOf, makeSqlitePlace, testStoreContract } from "../contract.ts";
import { newerModules, newerVersion } from "../newer-program.ts";
import { openOwnStore } from "../own-store.ts";
import { keepLog, makeDirectory, openTestStore } from "../store-under-test.ts";

const runFile = promisify(execFile);
const processFile = (name: string) => new URL(name, import.meta.url).pathname;
const modeOf = (file: string) => statSync(file).mode & 0o777;

test("SQLite fulfills the contract of the store", async (t) => testStoreContract(t, makeSqlitePlace));

test("the files are readable only by their owner", async (t) => {
  const directory = join(await makeDirectory(t), "made", "by-the-store");
  const first = await openTestStore(t, { directory });
  await first.run("counter.add", { name: "a", by: 1 });
  t.equal(modeOf(directory), 0o700);
  for (const name of readdirSync(directory)) {
    t.equal(modeOf(join(directory, name)), 0o600, name);
  }
  await first.close();
  chmodSync(join(directory, "hostplane.db"), 0o644);
  await openTestStore(t, { directory });
  t.equal(modeOf(join(directory, "hostplane.db")), 0o600, "also a file that was copied there by hand");
});

test("queued transactions share a commit", async (t) => {
  const directory = await makeDirectory(t);
  const store = await openTestStore(t, { directory });
  const before = commitsIn(join(directory, "hostplane.db-wal"));
  await Promise.all(
    Array.from({ length: 200 }, (_, index) => store.run("counter.add", { name: `a${index % 7}`, by: 1 })),
  );
  const commits = commitsIn(join(directory, "hostplane.db-wal")) - before;
  t.comment(`200 transactions, ${commits} commits`);
  t.ok(commits >= 1 && commits <= 20);
});

const skipTrace = await runFile("strace", ["-f", "-o", "/dev/null", "true"]).then(
  () => false,
  () => "strace is not installed, or may not trace",
);

test("every commit waits for the disk", { skip: skipTrace }, async (t) => {
  const trace = join(await makeDirectory(t), "trace");
  const syncsFor = async (count: number) => {
    const program = [
      process.execPath,
      processFile("../committing-process.ts"),
      await makeDirectory(t),
      String(count),
    ];
    await runFile("strace", ["-f", "-e", "trace=fsync,fdatasync", "-o", trace, ...program]);
    return readFileSync(trace, "utf8")
      .split("\n")
      .filter((line) => /\b(fsync|fdatasync)\(/.test(line)).length;
  };
  t.equal((await syncsFor(60)) - (await syncsFor(10)), 50);
});

test("a second process is refused with the file and the process that has it open", async (t) => {
  const directory = await makeDirectory(t);
  // The process is idle: it must hold the lock between transactions too.
  const child = spawn(process.execPath, [processFile("../holding-process.ts"), directory], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.teardown(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const refused = await errorOf(openTestStore(t, { directory }));
  t.equal(refused.reason, "STORE_IN_USE");
  t.match(refused.message, join(directory, "hostplane.db"));
  if (existsSync("/proc/locks")) {
    t.match(refused.message, `process ${child.pid}`);
  }
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
  t.ok(await (await openTestStore(t, { directory })).run("counter.read", { name: "lane0" }));
});

test("a database is backed up before a migration, and the backup can be restored", async (t) => {
  const directory = await makeDirectory(t);
  const older = await openTestStore(t, { directory });
  await older.run("counter.add", { name: "a", by: 7 });
  await older.close();
  const log = keepLog();
  const newer = await openTestStore(t, { directory, modules: newerModules, log });
  await newer.close();
  const backup = join(directory, `hostplane.db.before-${newerVersion}`);
  t.match(log.lines, [
    `info: migrated ${join(directory, "hostplane.db")} to schema version ${newerVersion}; the backup from before the migration is ${backup}`,
  ]);
  t.equal(modeOf(backup), 0o600);
  t.same(readdirSync(directory).toSorted(), ["hostplane.db", `hostplane.db.before-${newerVersion}`]);

  writeFileSync(join(directory, "hostplane.db"), readFileSync(backup));
  const back = await openTestStore(t, { directory });
  t.equal(await back.run("counter.add", { name: "a", by: 1 }), 8);
  await back.close();
  await (await openTestStore(t, { directory, modules: newerModules })).close();
  t.ok(existsSync(`${backup}-2`), "the second migration makes another backup, and keeps the first");
});

test("a backup is consistent while transactions continue, and does not overwrite a file", async (t) => {
  const directory = await makeDirectory(t);
  const store = await openTestStore(t, { directory });
  const target = await makeDirectory(t);
  const file = join(target, "hostplane.db");
  const writes: Promise<number>[] = [];
  const write = () => writes.push(store.run("counter.add", { name: "a", by: 1 }));
  Array.from({ length: 50 }, write);
  const backup = store.backup(file);
  Array.from({ length: 50 }, write);
  const { sizeBytes, keyChecks } = await backup;
  await Promise.all(writes);
  t.equal(sizeBytes, statSync(file).size);
  t.same(keyChecks, ["key-1"], "it identifies the key that a restore needs");
  t.equal(modeOf(file), 0o600);
  t.equal(await store.run("counter.read", { name: "a" }), 100);

  const refused = await errorOf(store.backup(file));
  t.match(refused, { reason: "BACKUP_REFUSED", message: /the file exists/ });
  t.equal(statSync(file).size, sizeBytes);
  const nowhere = await errorOf(store.backup(join(target, "no", "such", "directory")));
  t.match(nowhere, { reason: "BACKUP_REFUSED", message: /ENOENT/ });

  const restored = await openTestStore(t, { directory: target });
  t.equal(
    await restored.run("counter.read", { name: "a" }),
    50,
    "everything requested before the backup, and nothing after it",
  );
});

test("a damaged file and one that is not a database are distinguished from a missing one", async (t) => {
  const directory = await makeDirectory(t);
  writeFileSync(join(directory, "hostplane.db"), "this is no database. ".repeat(500));
  t.equal((await errorOf(openTestStore(t, { directory }))).reason, "STORE_DAMAGED");
  const unusable = join(directory, "hostplane.db", "below-a-file");
  t.equal((await errorOf(openTestStore(t, { directory: unusable }))).reason, "STORE_UNAVAILABLE");
});

test("when the thread dies, pending and later calls fail", async (t) => {
  const log = keepLog();
  const store = await openTestStore(t, { directory: await makeDirectory(t), log });
  const dying = [store.run("process.end", undefined), store.run("counter.add", { name: "a", by: 1 })];
  for (const error of await Promise.all(dying.map(errorOf))) {
    t.match(error, { reason: "STORE_UNAVAILABLE", effect: "possible" }, "the thread had received it");
  }
  t.match(
    await errorOf(store.run("counter.read", { name: "a" })),
    { reason: "STORE_UNAVAILABLE", effect: undefined },
    "the thread never received it",
  );
  t.match(log.lines.at(-1), /^fatal: the database thread died/);
  await store.close();
});

test("a change that was interrupted by the death of the store's thread is not repeated for the same key", async (t) => {
  const open = async () => openTestStore(t, { directory: await makeDirectory(t) });
  const stores = [await open(), await open()];
  await assertRunsOnce(t, await openOwnStore(t), () => stores.pop()?.run("process.end", undefined) as never);
});

const ownNamespace = ["--user", "--map-root-user", "--mount"];
const skipFullDisk = await runFile("unshare", [...ownNamespace, "true"]).then(
  () => false,
  () => "no file system can be mounted here",
);

test("a full disk only fails writes, and the store recovers when there is space", {
  skip: skipFullDisk,
}, async (t) => {
  const mount = await makeDirectory(t);
  const child = [process.execPath, processFile("../full-disk-process.ts"), mount];
  const { stdout } = await runFile("unshare", [...ownNamespace, ...child]);
  const report = JSON.parse(stdout) as Record<string, unknown>;
  t.match(report, { failed: "STORE_UNAVAILABLE", retryable: true, alsoSmall: "STORE_UNAVAILABLE" });
  t.equal(report.counted, report.acknowledged, "all acknowledged writes are there, and nothing else");
  t.equal(report.afterwards, (report.acknowledged as number) + 1);
});

test("a gateway with a full disk reports it, and is ready again once there is space", {
  skip: skipFullDisk,
}, async (t) => {
  const mount = await makeDirectory(t);
  const child = [process.execPath, processFile("../full-disk-gateway-process.ts"), mount];
  const { stdout } = await runFile("unshare", [...ownNamespace, ...child]);
  const { before, full, after } = JSON.parse(stdout);
  t.match(before, { readyz: 200, writable: "hostplane_store_writable 1" });
  t.equal(full.reported.length, 1, "immediately, and then once a minute");
  t.match(full.reported[0], /^the store cannot be written \(its disk is (99|100) % full, 0 MiB free\)/);
  t.ok(full.lines.length <= 2, full.lines.join("\n"));
  t.match(full.free, /^hostplane_store_disk_free_bytes \d{1,6}$/);
  t.match(full.findings, [
    { ok: false, what: /cannot write/ },
    { ok: false, what: /^the disk of .* is (99|100) % full/, fix: /free space there/ },
  ]);
  t.equal(after.writable, "hostplane_store_writable 1");
  t.match(after.findings, [{ ok: true }]);
  t.equal(after.findings.length, 1);
});

test("a database that was truncated to zero bytes is refused, and left unchanged", async (t) => {
  const directory = await makeDirectory(t);
  const store = await openTestStore(t, { directory });
  await store.run("counter.add", { name: "a", by: 1 });
  await store.close();
  const file = join(directory, "hostplane.db");
  truncateSync(file);
  writeFileSync(`${file}-wal`, "what a killed gateway has left");
  const refused = [errorOf(openTestStore(t, { directory })), errorOf(readStoreFacts("sqlite", directory))];
  for (const { reason, message } of await Promise.all(refused)) {
    t.equal(reason, "STORE_DAMAGED");
    t.match(message, /hostplane\.db is empty.*Restore a backup.*remove the file/);
  }
  t.equal(statSync(file).size, 0);
  t.ok(existsSync(`${file}-wal`), "SQLite would have removed it");
});

test("a database never appears as an empty file while it is created", async (t) => {
  const directory = await makeDirectory(t);
  const sizes = new Set<number>();
  const watcher = watch(directory, (_event, name) => {
    if (name === "hostplane.db") {
      sizes.add(statSync(join(directory, name)).size);
    }
  });
  await Promise.all([openTestStore(t, { directory }), once(watcher, "change")]);
  watcher.close();
  t.notOk(sizes.has(0), [...sizes].join());
  t.same(
    readdirSync(directory).filter((name) => !/^hostplane\.db(-wal|-shm)?$/.test(name)),
    [],
  );
});

test("the gateway's own transactions are used by default", async (t) => {
  const options = { url: "sqlite", kind: "sandbox", keyCheck: "k", log: keepLog() } as const;
  const store = await openStore({ modules: gatewayModules, ...options, directory: await makeDirectory(t) });
  t.teardown(() => store.close());
  t.same(await store.run("users.list", undefined), []);
});

/**
 * Counts the frames that end a commit (https://www.sqlite.org/fileformat2.html#walformat): their header has a nonzero database
 * size.
 */
function commitsIn(walFile: string): number {
  const wal = readFileSync(walFile);
  const frameSize = 24 + wal.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frameSize <= wal.length; at += frameSize) {
    commits += wal.readUInt32BE(at + 4) === 0 ? 0 : 1;
  }
  return commits;
}
