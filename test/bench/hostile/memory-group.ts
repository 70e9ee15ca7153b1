import { mkdir, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const version1 = "/sys/fs/cgroup/memory";
const version2 = "/sys/fs/cgroup";

/** Memory that processes have together, as the kernel enforces it. */
export interface MemoryGroup {
  /** Puts what the argv starts into the group. */
  argvOf(argv: readonly string[]): [string, ...string[]];
  remove(): Promise<void>;
}

/** Makes a group of the kernel's; undefined where that is not allowed. */
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
