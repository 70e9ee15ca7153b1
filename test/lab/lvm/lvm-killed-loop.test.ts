import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import tap, { type Test, test } from "tap";
import { isRunning, readProcessFacts } from "../../../adapters/host/process/process-facts.ts";
import type { LvmStep } from "../../../adapters/lvm/adapter.ts";
import type { LvmDeviceStep } from "../../../adapters/lvm/device-adapter.ts";
import { createLvm } from "../../../adapters/lvm/lvm.ts";
import { loopActivation, makeLoopVolumeGroups, reasonToSkip } from "./loop-volume-group.ts";

const skip = await reasonToSkip();
const extent = 4n << 20n;

// An lvm command takes a second or more in an emulated machine, and each test prepares fifteen groups.
tap.setTimeout(1_700_000);

/**
 * Runs `lvm` at once if it only reads, otherwise once the file `go` exists. Each waiting command creates a file named by its pid.
 */
const gate = `
  case "$3" in fullreport | lvmconfig | version) shift; exec "$@" ;; esac
  folder=$1
  shift
  : > "$folder/$$"
  while [ ! -e "$folder/go" ]; do sleep 0.05; done
  "$@"
  echo "$2 $?" > "$folder/end-$2-$$"`;

/** State of the commands when their gateway dies. */
type KilledWhere = "before they begin" | "while they wait for a lock inside LVM";

for (const where of ["before they begin", "while they wait for a lock inside LVM"] as const) {
  test(
    `LVM's changing commands run to their end after their gateway was killed ${where}`,
    {
      skip: skip ?? false,
    },
    (t) => checkKilled(t, where),
  );
}

async function checkKilled(t: Test, where: KilledWhere): Promise<void> {
  const activates = (await loopActivation()) === "auto";
  const { names, options, shell, spares } = await makeLoopVolumeGroups(t, activates ? 15 : 11, 20, 5);
  // Changes of one group take turns, so each command has its own group and all run in parallel.
  const [growing = "", shrinking = "", marking = "", freeing = "", moving = "", aborting = "", ...others] =
    names;
  const volumes = ["created", "grown", "renamed", "tagged", "removed", "origin", "idle", "busy", "thin"];
  const [added = "", taken = "", freed = "", target = "", abortTarget = ""] = spares;
  const create = activates ? ["--yes"] : ["-an", "-Zn", "-Wn"];
  for (const name of volumes.slice(1, Math.min(others.length, volumes.indexOf("thin")))) {
    await shell("lvcreate", ...create, "-L4m", "-n", name, groupOf(name));
  }
  await shell("vgextend", shrinking, taken);
  await shell("pvcreate", freed);
  const firstLvm = createLvm(options);
  const { physicalVolumes } = (await firstLvm.read()).value;
  await firstLvm.close();
  const deviceOf = (name: string) =>
    physicalVolumes.find(({ volumeGroupName }) => volumeGroupName === name)?.path ?? "";
  const [closed, source, abortSource] = [deviceOf(marking), deviceOf(moving), deviceOf(aborting)];
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
    await shell("lvcreate", "--yes", "--type", "thin-pool", "-L8m", "-n", "pool", groupOf("thin"));
    await shell("lvcreate", "--yes", "-L4m", "-n", "stays", aborting);
    await shell("vgextend", aborting, abortTarget);
    await interruptMove(abortSource, () =>
      shell("lvs", "-a", "--noheadings", "-o", "lv_name", "-S", "lv_active=active", aborting),
    );
    steps.push(
      { kind: "create", ...at("thin"), sizeBytes: extent, tags: [], thinPoolName: "pool" },
      { kind: "abortMove", volumeGroupName: aborting, path: abortSource },
      { kind: "snapshot", ...at("origin"), name: "snap", originName: "origin", tags: [], roomBytes: extent },
      { kind: "activate", ...at("idle") },
      { kind: "deactivate", ...at("busy") },
      { kind: "moveAway", volumeGroupName: moving, path: source },
    );
  }

  // In the virtual machine the repository is read-only.
  const folder = mkdtempSync(join(tmpdir(), "hostplane-killed-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
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
  const locks = where === "before they begin" ? undefined : await holdLocks();
  if (locks !== undefined) {
    writeFileSync(join(folder, "go"), "");
    while (locks.countWaiting() < steps.length) {
      await sleep(50);
    }
  }
  process.kill(-(gateway.pid ?? 0), "SIGKILL");
  await ended;
  writeFileSync(join(folder, "go"), "");
  await locks?.release();
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
    t.match(volume("thin"), { thinPoolName: "pool", sizeBytes: extent, active: true });
    t.equal((device(abortSource)?.usedBytes ?? 0n) + (device(abortTarget)?.usedBytes ?? 0n), extent);
  }
  await shell("vgck", ...names);
  await lvm.close();

  /** Takes the locks of all groups and LVM's global lock, as LVM does. */
  async function holdLocks() {
    const directory = join(options.systemDir ?? "", "..", "lock");
    const files = ["P_global", ...names.map((name) => `V_${name}`)].map((file) => join(directory, file));
    // A reading lvm removes the lock file when it releases the lock.
    const script = `for file; do
      until exec {fd}>>"$file"; flock --exclusive $fd; [ "/proc/$$/fd/$fd" -ef "$file" ]; do exec {fd}>&-; done
    done; echo held; read -r`;
    const holder = spawn("bash", ["-c", script, "bash", ...files], { stdio: ["pipe", "pipe", "inherit"] });
    const left = once(holder, "exit");
    t.teardown(() => holder.kill());
    await once(holder.stdout, "data");
    return {
      /**
       * Returns the number of processes that wait for one of the locks, or in a lock's queue (`P_global:aux`):
       *   5: -> FLOCK  ADVISORY  WRITE 4242 00:2f:1234 0 EOF
       */
      countWaiting() {
        const inodes = new Set(
          readdirSync(directory).map((file) => String(statSync(join(directory, file)).ino)),
        );
        const waiting = readFileSync("/proc/locks", "utf8").matchAll(/-> FLOCK .* \S+:(\d+) 0 EOF/g);
        return [...waiting].filter(([, inode = ""]) => inodes.has(inode)).length;
      },
      async release() {
        holder.stdin.end();
        await left;
      },
    };
  }

  /** Starts a move, and kills it once it is active. */
  async function interruptMove(path: string, listActive: () => Promise<string>): Promise<void> {
    const env = { ...process.env, LVM_SYSTEM_DIR: options.systemDir };
    const move = spawn("lvm", ["pvmove", "--interval", "60", path], { env, stdio: "ignore" });
    const left = once(move, "exit");
    while (!(await listActive()).includes("pvmove")) {
      t.equal(move.exitCode, null, "the move runs");
    }
    move.kill("SIGKILL");
    await left;
  }

  function groupOf(name: string): string {
    return others[volumes.indexOf(name)] ?? "";
  }

  function at(name: string): { readonly volumeGroupName: string; readonly name: string } {
    return { volumeGroupName: groupOf(name), name };
  }
}
