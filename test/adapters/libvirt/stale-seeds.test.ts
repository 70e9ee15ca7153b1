import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { removeStaleSeeds, seedDirectoryPrefix } from "../../../adapters/libvirt/stale-seeds.ts";

test("removes the seed directories of killed processes, and no others", async (t) => {
  const parent = t.testdir({});
  const { pid: deadPid } = spawnSync("true");
  const youngSeconds = (performance.timeOrigin - 60_000) / 1000;
  const make = (name: string, changedAtSeconds = 1) => {
    const path = join(parent, name);
    mkdirSync(path);
    writeFileSync(join(path, "meta-data"), "instance-id: op-1");
    utimesSync(path, changedAtSeconds, changedAtSeconds);
    return name;
  };
  const stale = [`${seedDirectoryPrefix(deadPid)}aZ09bc`, `${seedDirectoryPrefix(process.pid)}aZ09bc`];
  for (const name of stale) {
    make(name);
  }
  const kept = [
    make(`${seedDirectoryPrefix(deadPid)}newone`, Date.now() / 1000),
    make(`${seedDirectoryPrefix(process.pid)}newone`, Date.now() / 1000),
    make(`${seedDirectoryPrefix(deadPid)}a1new1`, youngSeconds),
    make(`${seedDirectoryPrefix(process.ppid)}aZ09bc`),
    make(`${seedDirectoryPrefix(deadPid)}of-somebody-else`),
    make("hostplane-seed-x"),
    make("other"),
  ];
  const link = `${seedDirectoryPrefix(deadPid)}linked`;
  symlinkSync(join(parent, "other"), join(parent, link));
  await removeStaleSeeds(parent);
  t.strictSame(readdirSync(parent).toSorted(), [...kept, link].toSorted());
  t.strictSame(readdirSync(join(parent, "other")), ["meta-data"]);
});

test("ignores a missing parent directory", async (t) => {
  await t.resolves(removeStaleSeeds(join(t.testdir({}), "none")));
});
