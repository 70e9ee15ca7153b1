import { mkdir, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const version1 = "/sys/fs/cgroup/memory";
const version2 = "/sys/fs/cgroup";

/** A memory limit shared by a group of processes and enforced by the kernel. */
export interface MemoryGroup {
  /** Returns an argv that starts the program in the group. */
  argvOf(argv: readonly string[]): [string, ...string[]];
  remove(): Promise<void>;
}

/** Creates a cgroup; undefined if that is not allowed. */
export async function createMemoryGroup(limitBytes: number): Promise<MemoryGroup | undefined> {
  for (const [parent, file] of [
    [version1, "memory.limit_in_bytes"],
    [version2, "memory.max"],
  ] as const) {
    const directory = join(parent, `hostplane-bench-${process.pid}`);
    try {
      await mkdir(directory);
      await writeFile(join(directory, file), String(limitBytes));
    } catch {
      await rmdir(directory).catch(() => {});
      continue;
    }
    const intoGroup = ["sh", "-c", 'echo $$ > "$0" && exec "$@"', join(directory, "cgroup.procs")] as const;
    return { argvOf: (argv) => [...intoGroup, ...argv], remove: () => rmdir(directory) };
  }
  return undefined;
}
