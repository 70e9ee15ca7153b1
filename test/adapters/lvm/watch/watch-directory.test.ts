import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import { watchDirectory } from "../../../../adapters/lvm/watch/watch-directory.ts";
import { until } from "../../../server/harness/until.ts";

function watched(t: Test, directory: string) {
  const changes: number[] = [];
  const watch = watchDirectory({
    directory,
    onChange: (changedAtMs) => changes.push(changedAtMs),
    debounceMs: 20,
    retryMs: 30,
  });
  t.teardown(() => watch.close());
  const changed = (count: number) => until(() => changes.length >= count);
  return { watch, changes, changed };
}

/** Writes a backup as LVM does: to a file of another name, which is then renamed. */
function writeBackup(directory: string, name: string): void {
  writeFileSync(join(directory, `.lvm_${name}`), "x");
  renameSync(join(directory, `.lvm_${name}`), join(directory, name));
}

test("a burst of changes is one call", async (t) => {
  const directory = t.testdir();
  const { watch, changes, changed } = watched(t, directory);
  await watch.ready;
  await sleep(30);
  const beganAtMs = performance.now();
  for (const name of ["a", "b", "c"]) {
    writeBackup(directory, name);
  }
  await changed(1);
  await sleep(100);
  t.equal(changes.length, 1);
  t.ok((changes[0] ?? 0) >= beganAtMs);
});

test("a directory created later is a change, and is watched from then on", async (t) => {
  const directory = join(t.testdir(), "later");
  const { watch, changes, changed } = watched(t, directory);
  await watch.ready;
  t.equal(changes.length, 0);
  mkdirSync(directory);
  await changed(1);
  await sleep(60);
  const before = changes.length;
  writeBackup(directory, "vg0");
  await changed(before + 1);
  t.pass("a change in it is noticed");
});

test("a directory that is removed and created again is still watched", async (t) => {
  const directory = join(t.testdir({ backup: {} }), "backup");
  const { watch, changes, changed } = watched(t, directory);
  await watch.ready;
  rmSync(directory, { recursive: true });
  await changed(1);
  t.pass("its removal is a change");
  mkdirSync(directory);
  await changed(2);
  t.pass("so is its creation");
  await sleep(100);
  const before = changes.length;
  writeBackup(directory, "vg0");
  await changed(before + 1);
  t.pass("a change in it is noticed");
});

test("a directory recreated at once, possibly with the same inode, is watched", async (t) => {
  const directory = join(t.testdir({ backup: {} }), "backup");
  const { watch, changes, changed } = watched(t, directory);
  await watch.ready;
  rmSync(directory, { recursive: true });
  mkdirSync(directory);
  await changed(1);
  await sleep(100);
  const before = changes.length;
  writeBackup(directory, "vg0");
  await changed(before + 1);
  t.pass("a change in it is noticed");
});

test("follows a directory that is replaced by another", async (t) => {
  const parent = t.testdir({ backup: {}, other: {} });
  const directory = join(parent, "backup");
  const { watch, changes, changed } = watched(t, directory);
  await watch.ready;
  renameSync(directory, join(parent, "old"));
  renameSync(join(parent, "other"), directory);
  await changed(1);
  await sleep(100);
  const before = changes.length;
  writeBackup(directory, "vg0");
  await changed(before + 1);
  t.pass("a change in it is noticed");
});

test("makes no calls after close", async (t) => {
  const directory = t.testdir();
  const { watch, changes } = watched(t, directory);
  await watch.ready;
  writeBackup(directory, "vg0");
  watch.close();
  await sleep(60);
  t.equal(changes.length, 0);
});
