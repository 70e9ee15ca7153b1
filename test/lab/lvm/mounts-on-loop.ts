import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createMounts } from "../../../adapters/mounts/mounts.ts";
import { faultOptions } from "../../../adapters/mounts/names.ts";

const mounts = createMounts();

/** Returns the mount at a path. */
async function mountAt(path: string) {
  const mount = (await mounts.mounts()).find((one) => one.path === path);
  assert.ok(mount, `${path} is mounted`);
  return mount;
}

/** Checks that the flags of a mount are where the driver looks for them, also if a second one is read-only. */
async function checkFlags(device: string, directory: string): Promise<void> {
  const [staging, target] = [join(directory, "staging"), join(directory, "target")];
  mkdirSync(staging);
  await mounts.run({
    kind: "mount",
    device,
    fileSystem: "ext4",
    path: staging,
    flags: ["sync", "nosuid", "noexec"],
  });
  await mounts.run({ kind: "createDirectory", path: target });
  await mounts.run({
    kind: "bind",
    source: staging,
    path: target,
    readOnly: true,
    flags: ["nosuid", "noexec"],
  });
  const [first, second] = [await mountAt(staging), await mountAt(target)];
  assert.deepEqual(first.flags.slice(0, 3), ["rw", "nosuid", "noexec"]);
  assert.deepEqual(second.flags.slice(0, 3), ["ro", "nosuid", "noexec"]);
  assert.deepEqual(second.device, first.device);
  assert.ok(second.fileSystemOptions.includes("sync"));
  assert.throws(() => writeFileSync(join(target, "file"), ""), { code: "EROFS" });
  assert.equal((await mounts.content(device)).busy, true);
  await mounts.run({ kind: "unmount", path: target });
  await mounts.run({ kind: "removeTarget", path: target });
  await mounts.run({ kind: "unmount", path: staging });
}

/** Checks that the mount of a device node is recognized as that of the device, which it does not open. */
async function checkNode(device: string, directory: string): Promise<void> {
  const path = join(directory, "node");
  await mounts.run({ kind: "createFile", path });
  await mounts.run({ kind: "bind", source: device, path, readOnly: false, flags: [] });
  const minor = Number(/\d+$/.exec(device)?.[0]);
  assert.deepEqual((await mountAt(path)).node, { major: 7, minor });
  assert.equal((await mounts.content(device)).busy, false);
  await mounts.run({ kind: "unmount", path });
  await mounts.run({ kind: "removeTarget", path });
}

/** Checks that an error in a mounted file system shows in its options. */
async function checkFault(device: string, directory: string): Promise<void> {
  const path = join(directory, "fault");
  mkdirSync(path);
  await mounts.run({ kind: "mount", device, fileSystem: "ext4", path, flags: ["errors=remount-ro"] });
  assert.equal((await mounts.use(path)).isShutDown, false);
  writeFileSync(`/sys/fs/ext4/${basename(device)}/trigger_fs_error`, "1");
  const { fileSystemOptions } = await mountAt(path);
  assert.ok(
    faultOptions.some((option) => fileSystemOptions.includes(option)),
    fileSystemOptions.join(),
  );
  await mounts.run({ kind: "unmount", path });
  await mounts.run({ kind: "check", device });
}

/** Checks that only an empty device counts as one, and that a damaged file system is corrected or refused. */
async function checkContent(device: string): Promise<void> {
  const markDamaged = () =>
    execFileSync("debugfs", ["-w", "-R", "set_super_value state 2", device], { stdio: "ignore" });
  markDamaged();
  await mounts.run({ kind: "check", device });
  const overwrite = (source: string, ...words: string[]) =>
    execFileSync("dd", [`if=${source}`, `of=${device}`, "bs=1k", "conv=fsync", "status=none", ...words]);
  overwrite("/dev/urandom", "seek=20", "count=600");
  markDamaged();
  await assert.rejects(mounts.run({ kind: "check", device }), {
    reason: "TOOL_FAILED",
    message: /not corrected automatically/,
  });
  execFileSync("wipefs", ["--quiet", "--all", device]);
  assert.equal((await mounts.content(device)).type, "data of an unknown type");
  overwrite("/dev/zero", "count=600");
  assert.equal((await mounts.content(device)).type, undefined);
}

/**
 * Checks the mount adapter with the kernel and the tools of this machine, in a mount namespace of its own, whose process 1 it is.
 * @throws AssertionError
 */
async function checkMounts(device: string, directory: string): Promise<void> {
  assert.deepEqual(await mounts.content(device), { type: undefined, busy: false });
  await mounts.run({ kind: "format", device, fileSystem: "ext4" });
  assert.deepEqual(await mounts.content(device), { type: "ext4", busy: false });
  await checkFlags(device, directory);
  await checkNode(device, directory);
  await checkFault(device, directory);
  await checkContent(device);
  const left = (await mounts.mounts()).filter(({ path }) => path.startsWith(directory));
  assert.deepEqual(left, []);
}

// A program: unshare --mount --pid --fork --mount-proc node test/lab/lvm/mounts-on-loop.ts DEVICE DIRECTORY
const [device = "", directory = ""] = process.argv.slice(2);
await checkMounts(device, directory);
