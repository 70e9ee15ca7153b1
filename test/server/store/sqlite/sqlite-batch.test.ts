import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { test } from "tap";
import { runBatch } from "../../../../server/store/sqlite/sqlite-batch.ts";
import { kyselyFromSqlite } from "../../../../server/store/sqlite/sqlite-dialect.ts";
import { openSqliteFile } from "../../../../server/store/sqlite/sqlite-file.ts";
import type { Transactions } from "../../../../server/store/transaction.ts";

const skip = process.platform !== "linux" && "prlimit(1) is Linux's";

/** Makes writes of this process beyond a file size fail with EFBIG, which SQLite reports as an I/O error. */
function limitFiles(sizeBytes: number | "unlimited"): void {
  const { status } = spawnSync("prlimit", [`--pid=${process.pid}`, `--fsize=${sizeBytes}:unlimited`]);
  if (status !== 0) {
    throw new Error("prlimit failed");
  }
}

const transactions = {
  "texts.add": async ({ db }: { db: ReturnType<typeof kyselyFromSqlite> }, text: string) => {
    await sql`insert into texts values (${text})`.execute(db);
    return text.length;
  },
} as unknown as Transactions;

test("a commit that fails with an I/O error has the effect possible", { skip }, async (t) => {
  const file = join(t.testdir(), "store.db");
  const database = openSqliteFile(file, true);
  t.teardown(() => database.close());
  database.exec("create table texts (text text)");
  const db = kyselyFromSqlite(database);
  const add = (text: string) => runBatch(database, db, transactions, [{ name: "texts.add", args: text }]);

  t.match(await add("before"), [{ ok: true, result: 6 }]);
  // The default action of SIGXFSZ ends the process.
  const onSignal = () => {};
  process.on("SIGXFSZ", onSignal);
  limitFiles(statSync(`${file}-wal`).size);
  t.teardown(() => {
    limitFiles("unlimited");
    process.off("SIGXFSZ", onSignal);
  });
  const failed = { ok: false, error: { reason: "STORE_UNAVAILABLE", effect: "possible" } };
  const both = ["one", "two"].map((args) => ({ name: "texts.add", args }));
  t.match(await runBatch(database, db, transactions, both), [failed, failed], "all of the batch");
  t.equal(database.isTransaction, false);

  limitFiles("unlimited");
  t.match(await add("after"), [{ ok: true }], "the next batch is not blocked");
  const texts = database.prepare("select text from texts order by rowid").all();
  t.same(
    texts.map(({ text }) => text),
    ["before", "after"],
  );
});

test("a transaction that fails is rolled back, and the others of its batch are committed", async (t) => {
  const database = new DatabaseSync(":memory:");
  t.teardown(() => database.close());
  database.exec("create table texts (text text check (text <> 'no'))");
  const db = kyselyFromSqlite(database);
  const batch = ["yes", "no", "also"].map((args) => ({ name: "texts.add", args }));
  const [first, second, third] = await runBatch(database, db, transactions, batch);
  t.match([first, third], [{ ok: true }, { ok: true }]);
  t.match(second, { ok: false, error: { reason: "INTERNAL" } });
  t.equal(database.prepare("select count(*) as n from texts").get()?.n, 2);
});
