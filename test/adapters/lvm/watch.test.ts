import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import { watchDirectory } from "../../../adapters/lvm/watch.ts";

function watched(t: Test, directory: string) {
  const changes: number[] = [];
  const watch = watchDirectory({
    directory,
    onChange: (changedAtMs) => changes.push(changedAtMs),
    debounceMs: 20,
    retryMs: 30,
  });
  t.teardown(() => watch.close());
  const changed = async (count: number) => {
    for (let waits = 0; waits < 200 && changes.length < count; waits += 1) {
      await sleep(10);
    }
    return changes.length >= count;
  };
  return { watch, changes, changed };
}

/** As LVM writes a backup: a file of another name, renamed. */
function writeBackup(directory: string, name: string): void {
  writeFileSync(join(directory, `.lvm_${name}`), "x");
  renameSync(join(directory, `.lvm_${name}`), join(directory, name));
}

test("a burst of changes is one call, soon after its first", async (t) => {
  const directory = t.testdir();
  const { watch, changes, changed } = watched(t, directory);
  await watch.ready;
  await sleep(30);
  const beganAtMs = performance.now();
  for (const name of ["a", "b", "c"]) {
    writeBackup(directory, name);
  }
  t.ok(await changed(1));
  t.ok(performance.now() - beganAtMs < 500);
  await sleep(100);
  t.equal(changes.length, 1);
  t.ok((changes[0] ?? 0) >= beganAtMs);
});

test("a directory that comes later is a change, and is watched from then on", async (t) => {
  const directory = join(t.testdir(), "later");
  const { watch, changes, changed } = watched(t, directory);
  await watch.ready;
  t.equal(changes.length, 0);
  mkdirSync(directory);
  t.ok(await changed(1));
  await sleep(60);
  const before = changes.length;
  writeBackup(directory, "vg0");
  t.ok(await changed(before + 1));
});

test("a directory that is removed and made anew is still watched", async (t) => {
  const directory = join(t.testdir({ backup: {} }), "backup");
  const { watch, changes, changed } = watched(t, directory);
  await watch.ready;
  rmSync(directory, { recursive: true });
  t.ok(await changed(1), "its going is a change");
  mkdirSync(directory);
  t.ok(await changed(2), "so is its coming");
  await sleep(100);
  const before = changes.length;
  writeBackup(directory, "vg0");
  t.ok(await changed(before + 1));
});

test("a directory made anew in the same moment, which may get the same inode, is watched", async (t) => {
  const directory = join(t.testdir({ backup: {} }), "backup");
  const { watch, changes, changed } = watched(t, directory);
  await watch.ready;
  rmSync(directory, { recursive: true });
  mkdirSync(directory);
  t.ok(await changed(1));
  await sleep(100);
  const before = changes.length;
  writeBackup(directory, "vg0");
  t.ok(await changed(before + 1));
});

test("a directory that another takes the place of is followed", async (t) => {
  const parent = t.testdir({ backup: {}, other: {} });
  const directory = join(parent, "backup");
  const { watch, changes, changed } = watched(t, directory);
  await watch.ready;
  renameSync(directory, join(parent, "old"));
  renameSync(join(parent, "other"), directory);
  t.ok(await changed(1));
  await sleep(100);
  const before = changes.length;
  writeBackup(directory, "vg0");
  t.ok(await changed(before + 1));
});

test("after close nothing is called", async (t) => {
  const directory = t.testdir();
  const { watch, changes } = watched(t, directory);
  await watch.ready;
  writeBackup(directory, "vg0");
  watch.close();
  await sleep(60);
  t.equal(changes.length, 0);
});
