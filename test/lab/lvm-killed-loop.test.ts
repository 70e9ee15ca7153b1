import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import tap, { test } from "tap";
import { isRunning, readProcessFacts } from "../../adapters/host/process-facts.ts";
import type { LvmStep } from "../../adapters/lvm/adapter.ts";
import type { LvmDeviceStep } from "../../adapters/lvm/device-adapter.ts";
import { createLvm } from "../../adapters/lvm/lvm.ts";
import { loopActivation, makeLoopVolumeGroups, reasonToSkip } from "./loop-volume-group.ts";

const skip = await reasonToSkip();
const extent = 4n << 20n;

// An lvm command takes a second or more in an emulated machine.
tap.setTimeout(300_000);

/** Runs `lvm` at once if it reads, otherwise once the file `go` is there; each that waits leaves a file with its pid as name. */
const gate = `
  case "$3" in fullreport | lvmconfig | version) shift; exec "$@" ;; esac
  folder=$1
  shift
  : > "$folder/$$"
  while [ ! -e "$folder/go" ]; do sleep 0.05; done
  "$@"
  echo "$2 $?" > "$folder/end-$2"`;

test("each changing command of LVM reaches its end after its gateway was killed", {
  skip: skip ?? false,
}, async (t) => {
  const activates = skip === undefined && (await loopActivation()) === "auto";
  const { names, options, shell, spares } = await makeLoopVolumeGroups(t, activates ? 13 : 10, 20, 4);
  // Changes of one group take turns: one for each command, so that all run at once.
  const [growing = "", shrinking = "", marking = "", freeing = "", ...others] = names;
  const moving = others.pop() ?? "";
  const volumes = ["created", "grown", "renamed", "tagged", "removed", "origin", "idle", "busy"];
  const [added = "", taken = "", freed = "", target = ""] = spares;
  const create = activates ? ["--yes"] : ["-an", "-Zn", "-Wn"];
  for (const name of volumes.slice(1, others.length)) {
    await shell("lvcreate", ...create, "-L4m", "-n", name, groupOf(name));
  }
  await shell("vgextend", shrinking, taken);
  await shell("pvcreate", freed);
  const firstLvm = createLvm(options);
  const { physicalVolumes } = (await firstLvm.read()).value;
  await firstLvm.close();
  const deviceOf = (name: string) =>
    physicalVolumes.find(({ volumeGroupName }) => volumeGroupName === name)?.path ?? "";
  const [closed, source] = [deviceOf(marking), deviceOf(moving)];
  const steps: (LvmStep | LvmDeviceStep)[] = [
    { kind: "create", ...at("created"), sizeBytes: extent, tags: ["a"] },
    { kind: "resize", ...at("grown"), sizeBytes: 2n * extent },
    { kind: "rename", ...at("renamed"), newName: "other" },
    { kind: "changeTags", ...at("tagged"), addTags: ["b"], removeTags: [] },
    { kind: "remove", ...at("removed") },
    { kind: "addDevices", volumeGroupName: growing, paths: [added] },
    { kind: "takeDevice", volumeGroupName: shrinking, path: taken },
    { kind: "setAllocatable", volumeGroupName: marking, path: closed, allocatable: false },
    { kind: "freeDevice", volumeGroupName: freeing, path: freed },
  ];
  if (activates) {
    await shell("lvchange", "-an", `${groupOf("idle")}/idle`);
    await shell("lvcreate", "--yes", "-L4m", "-n", "moved", moving);
    await shell("vgextend", moving, target);
    steps.push(
      { kind: "snapshot", ...at("origin"), name: "snap", originName: "origin", tags: [], roomBytes: extent },
      { kind: "activate", ...at("idle") },
      { kind: "deactivate", ...at("busy") },
      { kind: "moveAway", volumeGroupName: moving, path: source },
    );
  }

  const folder = t.testdir();
  const gateway = spawn(
    process.execPath,
    [
      join(import.meta.dirname, "run-lvm-steps.ts"),
      JSON.stringify({ ...options, command: ["sh", "-c", gate, "gate", folder, "lvm"] }),
      JSON.stringify(steps, (_, value) => (typeof value === "bigint" ? String(value) : value)),
    ],
    { stdio: "inherit", detached: true },
  );
  const ended = once(gateway, "exit");
  while (readdirSync(folder).length < steps.length) {
    t.equal(gateway.exitCode, null, "the gateway runs");
    await sleep(100);
  }
  const tools = await Promise.all(
    readdirSync(folder).map(async (pid) => {
      const { startedAt = "", group } = (await readProcessFacts(pid)) ?? {};
      t.not(group, gateway.pid, "a tool is not in the gateway's process group");
      return { pid, startedAt };
    }),
  );
  process.kill(-(gateway.pid ?? 0), "SIGKILL");
  await ended;
  writeFileSync(join(folder, "go"), "");
  for (const { pid, startedAt } of tools) {
    while (await isRunning(pid, startedAt)) {
      await sleep(50);
    }
  }

  const ends = readdirSync(folder).filter((name) => name.startsWith("end-"));
  t.equal(ends.length, steps.length);
  for (const name of ends) {
    t.match(readFileSync(join(folder, name), "utf8"), / 0$/m, name);
  }
  const lvm = createLvm(options);
  const { volumes: left, physicalVolumes: devices } = (await lvm.read()).value;
  const volume = (name: string) => left.find((one) => one.name === name);
  const device = (path: string) => devices.find((one) => one.path === path);
  t.match(volume("created"), { sizeBytes: extent, tags: ["a"], active: activates });
  t.match(volume("grown"), { sizeBytes: 2n * extent });
  t.ok(volume("other"));
  t.match(volume("tagged"), { tags: ["b"] });
  t.equal(volume("removed"), undefined);
  t.equal(device(added)?.volumeGroupName, growing);
  t.match(device(taken), { volumeGroupName: undefined });
  t.match(device(closed), { volumeGroupName: marking, allocatable: false });
  t.equal(device(freed), undefined);
  if (activates) {
    t.match(volume("snap"), { originName: "origin", health: "ok" });
    t.match(volume("idle"), { active: true });
    t.match(volume("busy"), { active: false });
    t.equal(device(source)?.usedBytes, 0n);
    t.equal(device(target)?.usedBytes, extent);
  }
  await shell("vgck", ...names);
  await lvm.close();

  function groupOf(name: string): string {
    return others[volumes.indexOf(name)] ?? "";
  }

  function at(name: string): { readonly volumeGroupName: string; readonly name: string } {
    return { volumeGroupName: groupOf(name), name };
  }
});
