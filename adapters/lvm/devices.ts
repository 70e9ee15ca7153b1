import { constants } from "node:fs";
import { type FileHandle, open, readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename } from "node:path";
import { blockDeviceNumber, deviceNumberFrom, isSameDevice } from "../host/device-number.ts";
import { InfraError } from "../host/infra-error.ts";
import type { ToolResult } from "../host/process/tool-result.ts";
import type { DeviceFacts, PhysicalVolume } from "./device-adapter.ts";
import { mountsOf, parseSignatures } from "./device-use.ts";
import { lvmReasons } from "./reasons.ts";

/** Runs a read-only tool. */
export type ReadTool = (argv: readonly string[]) => Promise<ToolResult>;

const sectorBytes = 512n;

/** Obstacle reported for a device that is already an LVM physical volume. */
export const physicalVolumeObstacle = "it is already an LVM physical volume";

/** Reads what the kernel and util-linux report about a block device. Never throws. */
export async function readDeviceFacts(path: string, read: ReadTool): Promise<DeviceFacts> {
  const node = await realpath(path).catch(() => undefined);
  if (node === undefined) {
    return { path, node, device: undefined, sizeBytes: 0n, obstacles: ["it does not exist"] };
  }
  const device = await blockDeviceNumber(node);
  if (device === undefined) {
    return { path, node, device, sizeBytes: 0n, obstacles: ["it is not a block device"] };
  }
  const { major, minor } = device;
  const folder = `/sys/dev/block/${major}:${minor}`;
  const text = (file: string) => readFile(`${folder}/${file}`, "utf8").catch(() => "");
  const [size, isReadOnly, holders, entries, mountInfo, swaps, kernelPath] = await Promise.all([
    text("size"),
    text("ro"),
    readdir(`${folder}/holders`).catch(() => []),
    readdir(folder).catch(() => []),
    readFile("/proc/self/mountinfo", "utf8").catch(() => ""),
    readFile("/proc/swaps", "utf8").catch(() => ""),
    realpath(folder).catch(() => folder),
  ]);
  const sizeBytes = /^\d+$/.test(size.trim()) ? BigInt(size.trim()) * sectorBytes : 0n;
  const partitions = entries.filter((entry) => entry.startsWith(basename(kernelPath)));
  const mounts = mountsOf(mountInfo, { ...device, node });
  const isSwap = swaps.split("\n").some((line) => line.startsWith(`${node} `));
  const obstacles = [
    ...(sizeBytes === 0n ? ["it has no size"] : []),
    ...(isReadOnly.trim() === "1" ? ["it is read-only"] : []),
    ...(mounts.length === 0 ? [] : [`it is mounted at ${mounts.join(", ")}`]),
    ...(isSwap ? ["it is used as swap"] : []),
    ...(holders.length === 0 ? [] : [`it is used by ${holders.join(", ")}`]),
    ...(partitions.length === 0 ? [] : [`it has partitions (${partitions.join(", ")})`]),
  ];
  return {
    path,
    node,
    device,
    sizeBytes,
    obstacles: [...obstacles, ...(sizeBytes === 0n ? [] : await signaturesOn(node, read))],
  };
}

/**
 * Opens devices exclusively, so that nothing else can claim them (mount, swap, device-mapper, LVM), checks them, and
 * releases them.
 * @param marked physical volumes that may be among them
 * @returns their nodes, whose numbers were those of the opened devices
 * @throws InfraError DEVICE_NOT_USABLE
 */
export async function checkDevicesHeld(
  paths: readonly string[],
  read: ReadTool,
  marked: readonly PhysicalVolume[] = [],
): Promise<string[]> {
  const held: FileHandle[] = [];
  const nodes: string[] = [];
  try {
    for (const path of paths) {
      held.push(await hold(path));
    }
    for (const [index, path] of paths.entries()) {
      const { node, device, obstacles: all } = await readDeviceFacts(path, read);
      const isMarked = marked.some((one) => isSameDevice(one.device, device));
      const obstacles = all.filter((obstacle) => !isMarked || obstacle !== physicalVolumeObstacle);
      const handle = held[index];
      const heldNumber = handle && deviceNumberFrom((await handle.stat({ bigint: true })).rdev);
      if (node === undefined || obstacles.length > 0) {
        throw notUsable(path, obstacles.join(", "));
      }
      if (!isSameDevice(heldNumber, device)) {
        throw notUsable(path, "the path now leads to another device");
      }
      nodes.push(node);
    }
    return nodes;
  } finally {
    await Promise.all(held.map((handle) => handle.close()));
  }
}

async function hold(path: string): Promise<FileHandle> {
  try {
    // Only block devices: O_EXCL has no effect on other files, and opening a FIFO would block.
    if (!(await stat(path)).isBlockDevice()) {
      throw notUsable(path, "it is not a block device");
    }
    return await open(path, constants.O_RDONLY | constants.O_EXCL | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof InfraError) {
      throw error;
    }
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    throw notUsable(path, code === "EBUSY" ? "it is in use" : `it cannot be opened (${code})`);
  }
}

/**
 * Returns the signatures on a device, e.g. of a file system or a partition table. They mean that the device has an
 * owner.
 */
async function signaturesOn(node: string, read: ReadTool): Promise<string[]> {
  try {
    // With --no-act it writes nothing, whatever the other options; it opens the device for reading only.
    const { exitCode, stdout, stderr } = await read(["wipefs", "--no-act", "--json", "--", node]);
    if (exitCode !== 0) {
      return [`it cannot be read: ${stderr.trim()}`];
    }
    return parseSignatures(stdout).map((type) =>
      type === "LVM2_member" ? physicalVolumeObstacle : `it contains ${type}`,
    );
  } catch (error) {
    return [`it cannot be inspected: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function notUsable(path: string, why: string): InfraError {
  return new InfraError(lvmReasons.DEVICE_NOT_USABLE, `${path} cannot be used: ${why}`);
}
