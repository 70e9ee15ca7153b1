import { readdir, readFile } from "node:fs/promises";

/** The publicly visible properties of a process, and its environment, which only its user can read. */
export interface MarkedProcess {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly environment: string;
}

/** Returns the running processes with the token's mark in their environment. */
export async function markedProcesses(token: string): Promise<readonly MarkedProcess[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      const cmdline = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      return { pid: Number(pid), argv: cmdline.split("\0"), environment };
    }),
  );
  return all.filter(({ environment }) => environment.includes(`HOSTPLANE_STEP=${token}`));
}
