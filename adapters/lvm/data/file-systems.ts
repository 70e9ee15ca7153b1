import type { ToolResult } from "../../host/process/tool-result.ts";
import { mountsOf } from "../device-use.ts";
import { errorWithoutPattern } from "../errors.ts";
import { devicePathOf } from "../names.ts";
import type { ActiveVolume, FileSystem } from "./data-adapter.ts";
import { assertGrowable } from "./growable.ts";

export interface FileSystemTools {
  /** Programs before `lvm` in the configured command, e.g. `nsenter ...`. */
  readonly prefix: readonly string[];
  /** Runs a read-only tool. */
  readonly read: (argv: readonly string[], signal?: AbortSignal) => Promise<ToolResult>;
  /** Runs a changing tool to its end. */
  readonly mutate: (argv: readonly string[]) => Promise<ToolResult>;
}

/** @throws InfraError TOOL_FAILED, TOOL_MISSING */
export async function readFileSystem(
  { prefix, read }: FileSystemTools,
  volume: ActiveVolume,
  signal?: AbortSignal,
): Promise<FileSystem | undefined> {
  const node = devicePathOf(volume.volumeGroupName, volume.name);
  const probed = await read([...prefix, "blkid", "--probe", "--output", "export", "--", node], signal);
  // 2: nothing was found, or several signatures contradict each other.
  if (probed.exitCode === 2) {
    return undefined;
  }
  const mountInfo = await read([...prefix, "cat", "/proc/self/mountinfo"], signal);
  const failed = [probed, mountInfo].find(({ exitCode }) => exitCode !== 0);
  if (failed !== undefined) {
    throw errorWithoutPattern(failed, failed.stderr.trim());
  }
  const type = parseFileSystemType(probed.stdout);
  const [mountPoint] =
    volume.device === undefined ? [] : mountsOf(mountInfo.stdout, { ...volume.device, node });
  return type === undefined ? undefined : { type, mountPoint };
}

/** Parses the output of `blkid --probe --output export`; undefined without a file system. */
export function parseFileSystemType(text: string): string | undefined {
  const values = new Map(
    text.split("\n").map((line): [string, string] => {
      const end = line.indexOf("=");
      return [line.slice(0, end), line.slice(end + 1)];
    }),
  );
  return values.get("USAGE") === "filesystem" ? values.get("TYPE") : undefined;
}

/** @throws InfraError FILE_SYSTEM_NOT_RESIZABLE, TOOL_FAILED, TOOL_MISSING */
export async function growFileSystem(tools: FileSystemTools, volume: ActiveVolume): Promise<void> {
  const fileSystem = assertGrowable(volume, await readFileSystem(tools, volume));
  const node = devicePathOf(volume.volumeGroupName, volume.name);
  if (fileSystem.mountPoint === undefined) {
    // Please run 'e2fsck -f /dev/vg0/data' first.
    const checked = await tools.mutate([...tools.prefix, "e2fsck", "-f", "-p", node]);
    // 1: errors were corrected.
    if (checked.exitCode !== 0 && checked.exitCode !== 1) {
      throw errorWithoutPattern(checked, `${checked.stdout} ${checked.stderr}`.trim());
    }
  }
  const grown = await tools.mutate(growCommandOf(tools.prefix, volume, fileSystem));
  if (grown.exitCode !== 0) {
    throw errorWithoutPattern(grown, grown.stderr.trim());
  }
}

/** Returns the argv that grows a file system to the size of its volume. */
export function growCommandOf(
  prefix: readonly string[],
  { volumeGroupName, name }: ActiveVolume,
  { mountPoint, type }: FileSystem,
): readonly string[] {
  return type === "xfs"
    ? [...prefix, "xfs_growfs", mountPoint ?? ""]
    : [...prefix, "resize2fs", devicePathOf(volumeGroupName, name)];
}
