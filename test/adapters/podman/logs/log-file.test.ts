import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Test, test } from "tap";
import type { LogPiece } from "../../../../adapters/podman/adapter.ts";
import { openLogFile, readLogFile } from "../../../../adapters/podman/logs/log-file.ts";

const record = (text: string, tag = "F") => `2026-11-21T15:29:23.123456789+00:00 stdout ${tag} ${text}\n`;

async function logPath(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-log-file-"));
  // A waiting reader does not keep the process alive.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(async () => {
    clearInterval(alive);
    await rm(directory, { recursive: true });
  });
  return join(directory, "ctr.log");
}

/** Reads a log; `untilWords` waits for this number of pieces. */
async function read(path: string, follow: boolean, signal = AbortSignal.timeout(20_000)) {
  const file = await openLogFile(path);
  if (file === undefined) {
    throw new Error(`there is no log ${path}`);
  }
  const words: string[] = [];
  let changed = Promise.withResolvers<void>();
  let caughtUp = 0;
  const wordsOf = (pieces: readonly LogPiece[]) => pieces.map(({ bytes }) => Buffer.from(bytes).toString());
  const ended = (async () => {
    for await (const pieces of readLogFile(file, path, { follow }, signal)) {
      caughtUp += pieces.length === 0 ? 1 : 0;
      words.push(...wordsOf(pieces));
      changed.resolve();
      changed = Promise.withResolvers();
    }
  })();
  return {
    words,
    ended,
    caughtUp: () => caughtUp,
    async untilWords(count: number): Promise<readonly string[]> {
      while (words.length < count || caughtUp === 0) {
        await Promise.race([changed.promise, ended]);
      }
      return words;
    },
  };
}

test("a partially written record is delivered when it is complete, and the next one is not lost", async (t) => {
  const path = await logPath(t);
  await writeFile(path, record("one"));
  const leaving = new AbortController();
  const log = await read(path, true, leaving.signal);
  t.strictSame(await log.untilWords(1), ["one"]);
  const whole = record("two");
  await appendFile(path, record("before") + whole.slice(0, -2));
  t.strictSame(await log.untilWords(2), ["one", "before"]);
  await appendFile(path, whole.slice(-2) + record("three"));
  t.strictSame(await log.untilWords(4), ["one", "before", "two", "three"]);
  t.equal(log.caughtUp(), 1);
  leaving.abort();
  await log.ended;
});

test("without following, returns what was complete at the call", async (t) => {
  const path = await logPath(t);
  await writeFile(path, `${record("one")}${record("a part", "P")}${record("half").slice(0, -1)}`);
  const log = await read(path, false);
  await log.ended;
  t.strictSame(log.words, ["one", "a part"]);
  t.equal(log.caughtUp(), 0);
});

test("a replaced log is read to its end, followed by the new one", async (t) => {
  const path = await logPath(t);
  await writeFile(path, record("one"));
  const leaving = new AbortController();
  const log = await read(path, true, leaving.signal);
  await log.untilWords(1);
  await appendFile(path, record("two"));
  await writeFile(`${path}.tmp`, record("three"));
  await rename(`${path}.tmp`, path);
  t.strictSame(await log.untilWords(3), ["one", "two", "three"]);
  await truncate(path);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await appendFile(path, record("four"));
  t.strictSame(await log.untilWords(4), ["one", "two", "three", "four"]);
  leaving.abort();
  await log.ended;
});

test("a log ends when it is removed, with its last records, and no file is left open", async (t) => {
  const path = await logPath(t);
  await writeFile(path, "");
  const openFiles = async () => (await readdir("/proc/self/fd").catch(() => [])).length;
  const before = await openFiles();
  const log = await read(path, true);
  await appendFile(path, record("last"));
  await rm(path);
  await log.ended;
  t.strictSame(log.words, ["last"]);
  t.equal(await openFiles(), before);
});

test("a log of many chunks is read completely", async (t) => {
  const path = await logPath(t);
  const expected = Array.from({ length: 50_000 }, (_, number) => `line ${number}`);
  await writeFile(path, expected.map((text) => record(text)).join(""));
  const log = await read(path, false);
  await log.ended;
  t.ok(log.words.join("\n") === expected.join("\n"));
});

test("does not open missing files, links, and non-regular files", async (t) => {
  const path = await logPath(t);
  t.equal(await openLogFile(path), undefined);
  await symlink("/dev/zero", path);
  t.equal(await openLogFile(path), undefined);
  await mkdir(`${path}.d`);
  t.equal(await openLogFile(`${path}.d`), undefined);
});
