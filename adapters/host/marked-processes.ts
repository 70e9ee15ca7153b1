import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { killGroup } from "./tool-process.ts";

const killAfterMs = 500;
const lookEveryMs = 25;

/** The environment by which a tool, and whatever it starts, is found again; a crash of the gateway does not end it. */
export function markOf(token: string): { readonly HOSTPLANE_STEP: string } {
  return { HOSTPLANE_STEP: token };
}

/**
 * Stops every process whose environment has the mark of this token, with its whole process group: SIGTERM and, half a second
 * later, SIGKILL. Resolves when none is left. Finds processes of the gateway's own user, or as root of all users.
 *
 * A process that not even SIGKILL ends, because it waits for a disk, is waited for.
 */
export async function stopMarked(token: string): Promise<void> {
  const startedAtMs = performance.now();
  for (;;) {
    const groups = await markedGroups(token);
    if (groups.size === 0) {
      return;
    }
    const signal = performance.now() - startedAtMs < killAfterMs ? "SIGTERM" : "SIGKILL";
    for (const group of groups) {
      killGroup(group, signal);
    }
    await sleep(lookEveryMs);
  }
}

async function markedGroups(token: string): Promise<ReadonlySet<number>> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const groups = await Promise.all(pids.map((pid) => markedGroup(pid, token)));
  return new Set(groups.filter((group) => group !== undefined));
}

/** The process group of a process that has the mark. */
async function markedGroup(pid: string, token: string): Promise<number | undefined> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, "latin1");
    const mark = Buffer.from(`HOSTPLANE_STEP=${token}`).toString("latin1");
    if (!environment.split("\0").includes(mark)) {
      return undefined;
    }
    // `4711 (name of (any) kind) S <parent> <group> ...`: proc(5).
    const facts = await readFile(`/proc/${pid}/stat`, "latin1");
    return Number(facts.slice(facts.lastIndexOf(")")).split(" ")[3]);
  } catch {
    // It has ended meanwhile, or is somebody else's.
    return undefined;
  }
}
