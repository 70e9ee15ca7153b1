import { readdirSync, statSync, writeFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "tap";
import { databaseFile } from "../../../server/store/open-store.ts";
import {
  backUpIfDue,
  readNewestCopyMs,
  startScheduledBackups,
} from "../../../server/store/scheduled-backups.ts";
import { until } from "../harness/until.ts";
import { keepLog, makeDirectory, openTestStore } from "./store-under-test.ts";

const hourMs = 3_600_000;
const noonMs = Date.UTC(2026, 0, 31, 12, 10);

test("each scheduled time has one copy, and the newest are kept", async (t) => {
  const store = await openTestStore(t, { directory: await makeDirectory(t) });
  const directory = join(await makeDirectory(t), "copies");
  const options = { store, directory, everyHours: 6, keep: 2 };
  const at = (hours: number) => backUpIfDue(options, noonMs + hours * hourMs);
  t.equal(await at(0), join(directory, "hostplane-20260131T1200Z.db"));
  t.equal(statSync(directory).mode & 0o777, 0o700);
  t.equal(await at(5), undefined, "the time has its copy");
  for (const name of ["notes.txt", "hostplane.db", "hostplane-20250131T1200Z.db.gz"]) {
    writeFileSync(join(directory, name), "someone else's");
  }
  writeFileSync(join(directory, "hostplane-20260131T1800Z.db.unfinished"), "of a killed gateway");
  await store.run("counter.add", { name: "a", by: 7 });
  t.ok(await at(6));
  t.ok(await at(31), "only the newest of several missed times is made up for");
  t.equal(await at(20), undefined, "the clock was set back");
  t.same(readdirSync(directory).toSorted(), [
    "hostplane-20250131T1200Z.db.gz",
    "hostplane-20260131T1800Z.db",
    "hostplane-20260201T1800Z.db",
    "hostplane.db",
    "notes.txt",
  ]);

  const restored = await makeDirectory(t);
  await copyFile(join(directory, "hostplane-20260201T1800Z.db"), databaseFile(restored));
  const copy = await openTestStore(t, { directory: restored, createIfMissing: false });
  t.equal(await copy.run("counter.read", { name: "a" }), 7, "a copy is a store");
});

test("a copy that fails is not taken for one, and is retried", async (t) => {
  const directory = await makeDirectory(t);
  const refused = { backup: () => Promise.reject(new Error("the disk is full")) };
  const options = { directory, everyHours: 24, keep: 1 };
  writeFileSync(join(directory, "hostplane-20260130T0000Z.db"), "the last good copy");
  await t.rejects(backUpIfDue({ ...options, store: refused }, noonMs), /the disk is full/);
  t.same(readdirSync(directory), ["hostplane-20260130T0000Z.db"], "the last good copy is kept");
  const store = await openTestStore(t, { directory: await makeDirectory(t) });
  t.ok(await backUpIfDue({ ...options, store }, noonMs));
  t.same(readdirSync(directory), ["hostplane-20260131T0000Z.db"]);
});

test("the newest copy counts, and nothing else in the directory", async (t) => {
  const directory = await makeDirectory(t);
  t.equal(await readNewestCopyMs(join(directory, "missing")), undefined);
  for (const name of [
    "notes.txt",
    "hostplane-20270131T0000Z.db.unfinished",
    "hostplane-20270131T0000Z.db.gz",
  ]) {
    writeFileSync(join(directory, name), "");
  }
  t.equal(await readNewestCopyMs(directory), undefined, "none is complete");
  for (const day of ["20260131", "20251231"]) {
    writeFileSync(join(directory, `hostplane-${day}T1300Z.db`), "");
  }
  t.equal(await readNewestCopyMs(directory), Date.UTC(2026, 0, 31, 13));
});

test("whatever the times, at most `keep` copies exist, and the last is the newest", async (t) => {
  const times = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 12 });
  const run = async (hours: readonly number[], everyHours: number, keep: number) => {
    const directory = await makeDirectory(t);
    const store = {
      async backup(file: string) {
        writeFileSync(file, "", { flag: "wx" });
        return { sizeBytes: 0, keyChecks: [] };
      },
    };
    let last = "";
    for (const hour of hours) {
      last = (await backUpIfDue({ store, directory, everyHours, keep }, noonMs + hour * hourMs)) ?? last;
    }
    const slotOf = (hour: number) => Math.floor((noonMs + hour * hourMs) / (everyHours * hourMs));
    // A time that is earlier than a copy writes none.
    const written = hours
      .map(slotOf)
      .filter((slot, index, all) => all.slice(0, index).every((each) => each < slot));
    const names = readdirSync(directory);
    return (
      names.length === Math.min(written.length, keep) &&
      join(directory, names.toSorted().at(-1) ?? "") === last
    );
  };
  await fc.assert(
    fc.asyncProperty(times, fc.integer({ min: 1, max: 48 }), fc.integer({ min: 1, max: 4 }), run),
    { numRuns: 30 },
  );
});

test("the schedule begins with the copy of the last scheduled time, and logs what it does", async (t) => {
  const store = await openTestStore(t, { directory: await makeDirectory(t) });
  const directory = await makeDirectory(t);
  const log = keepLog();
  const backups = startScheduledBackups({ store, directory, everyHours: 8760, keep: 1 }, log);
  await backups.close();
  t.match(log.lines, [/^info: wrote the backup .*hostplane-\d{8}T\d{4}Z\.db of the store$/]);

  const file = join(directory, readdirSync(directory)[0] ?? "");
  const failing = startScheduledBackups({ store, directory: file, everyHours: 1, keep: 1 }, log);
  await until(() => log.lines.length === 2);
  await failing.close();
  t.match(log.lines[1], /^warn: the store could not be backed up to .*; retrying every minute/);
});
