import { access, constants, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { run } from "../../../adapters/host/process/run.ts";
import type { ToolResult } from "../../../adapters/host/process/tool-result.ts";
import type { LvmOptions } from "../../../adapters/lvm/lvm.ts";

/** Volume groups on loop devices, with an LVM configuration that sees no other devices of the machine. */
export interface LoopVolumeGroups {
  /** Names of the groups. */
  readonly names: readonly string[];
  readonly extentCount: number;
  /** Options for `createLvm`. */
  readonly options: LvmOptions & { readonly activation: "auto" | "none" };
  readonly backupDir: string;
  /** Removes a group's disk from the machine, or puts it back at the same device. */
  moveDisk(name: string, isThere: boolean): Promise<void>;
  /** Loop devices of the same size that belong to no group. */
  readonly spares: readonly string[];
  /** Runs `lvm` with these arguments outside the gateway, as from a shell; throws unless it exits with 0. */
  shell(...args: string[]): Promise<string>;
}

let createdGroups = 0;
const extentBytes = 4 * 1024 * 1024;

/** Returns why no volume group can be created here; undefined if one can. Throws instead when HOSTPLANE_LAB=required. */
export async function reasonToSkip(): Promise<string | undefined> {
  const reason = await whatIsMissing();
  if (reason !== undefined && process.env.HOSTPLANE_LAB === "required") {
    throw new Error(`HOSTPLANE_LAB=required, but ${reason}`);
  }
  return reason;
}

async function whatIsMissing(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) {
    return "loop devices need root";
  }
  for (const tool of [
    ["lvm", "version"],
    ["losetup", "--version"],
  ]) {
    const missing = await run(tool, { kind: "read" }).then(
      () => false,
      () => true,
    );
    if (missing) {
      return `${tool[0]} is not installed`;
    }
  }
  return access("/dev/loop-control", constants.R_OK | constants.W_OK).then(
    () => undefined,
    () => "/dev/loop-control cannot be opened",
  );
}

/** Reports whether volumes get block devices here. */
export async function loopActivation(): Promise<"auto" | "none"> {
  const { stdout } = await run(["lvm", "version"], { kind: "read" });
  return stdout.includes("Driver version") ? "auto" : "none";
}

/**
 * Creates `count` volume groups of `extentCount` extents, each on its own loop device, and spare devices; exactly these are
 * removed when the test ends. With device-mapper volumes are activated; without it, LVM works on metadata only.
 */
export async function makeLoopVolumeGroups(
  t: Pick<Test, "teardown">,
  count = 1,
  extentCount = 50,
  spareCount = 0,
): Promise<LoopVolumeGroups> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-lvm-"));
  const systemDir = join(directory, "etc");
  const env = { LVM_SYSTEM_DIR: systemDir, LVM_SUPPRESS_FD_WARNINGS: "1" };
  const activation = await loopActivation();
  const loops: string[] = [];
  const names: string[] = [];
  // Teardowns run in reverse order: groups, loop devices, files.
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  t.teardown(async () => {
    for (const name of names) {
      await run(["lvm", "vgremove", "--force", "--", name], { kind: "mutate", env });
    }
    for (const [index, loop] of loops.entries()) {
      await detach(loop, diskPath(directory, index));
    }
  });

  for (let index = 0; index < count + spareCount; index += 1) {
    // LVM uses the first MiB itself, and rounds down to whole extents.
    await writeFile(diskPath(directory, index), "");
    await truncate(diskPath(directory, index), extentCount * extentBytes + 1024 * 1024);
    loops.push((await must(["losetup", "--find", "--show", diskPath(directory, index)], {})).stdout.trim());
  }
  await mkdir(systemDir);
  await writeFile(join(systemDir, "lvm.conf"), configuration(directory, loops, activation));
  for (const loop of loops.slice(0, count)) {
    createdGroups += 1;
    const name = `hostplane-${process.pid}-${createdGroups}`;
    // Otherwise udev activates the group's volumes at some later time (69-lvm.rules, vgchange -aay).
    await must(["lvm", "vgcreate", "--setautoactivation", "n", "--", name, loop], env);
    names.push(name);
  }
  return {
    names,
    extentCount,
    options: { systemDir, activation },
    backupDir: join(directory, "backup"),
    spares: loops.slice(count),
    async moveDisk(name, isThere) {
      const index = names.indexOf(name);
      const loop = loops[index] ?? "";
      await (isThere
        ? must(["losetup", loop, diskPath(directory, index)], {})
        : detach(loop, diskPath(directory, index)));
    },
    shell: async (...args) => (await must(["lvm", ...args], env)).stdout,
  };
}

function diskPath(directory: string, index: number): string {
  return join(directory, `disk-${index}`);
}

/** Returns a configuration whose filter accepts only these loop devices, and that shares nothing with the host's LVM. */
function configuration(directory: string, loops: readonly string[], activation: "auto" | "none"): string {
  const filter = `[ ${loops.map((loop) => `"a|^${loop}$|", `).join("")}"r|.*|" ]`;
  return `devices { use_devicesfile = 0
  filter = ${filter}
  global_filter = ${filter} }
global { locking_dir = "${directory}/lock"
  activation = ${activation === "none" ? 0 : 1}
  use_aio = 0
  use_lvmpolld = 0 }
activation { monitoring = 0 }
backup { backup = 1
  backup_dir = "${directory}/backup"
  archive = 0 }
`;
}

/** Never by number only: another program may have got the number since. */
async function detach(loop: string, file: string): Promise<void> {
  const backingFile = await readFile(
    `/sys/block/${loop.slice("/dev/".length)}/loop/backing_file`,
    "utf8",
  ).catch(() => "");
  if (backingFile.trim() === file) {
    await must(["losetup", "--detach", loop], {});
  }
}

async function must(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<ToolResult> {
  const result = await run(argv, { kind: "mutate", env });
  if (result.exitCode === 0) {
    return result;
  }
  throw new Error(`${argv.join(" ")} ended with ${result.exitCode}: ${result.stderr}`);
}
