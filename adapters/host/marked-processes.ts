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
  const stopped = new Map<string, string>();
  // A process that is just forked, or becomes another program by execve(2), has no environment for a moment.
  let looksWithout = 0;
  for (;;) {
    const marked = await markedProcesses(token);
    looksWithout = marked.length === 0 ? looksWithout + 1 : 0;
    if (looksWithout > 1 && (await allEnded(stopped))) {
      return;
    }
    const signal = performance.now() - startedAtMs < killAfterMs ? "SIGTERM" : "SIGKILL";
    for (const { pid, startedAt } of marked) {
      stopped.set(pid, startedAt);
    }
    for (const group of new Set(marked.map((one) => one.group))) {
      killGroup(group, signal);
    }
    await sleep(lookEveryMs);
  }
}

/** What proc(5) tells of a process in `stat`. */
interface ProcessFacts {
  readonly state: string;
  readonly group: number;
  /** Ticks since the machine started: tells it from a later process of the same number. */
  readonly startedAt: string;
}

interface MarkedProcess extends ProcessFacts {
  readonly pid: string;
}

async function markedProcesses(token: string): Promise<readonly MarkedProcess[]> {
  const mark = Buffer.from(`HOSTPLANE_STEP=${token}`).toString("latin1");
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readProcess(pid, "environ");
      const facts = environment.split("\0").includes(mark) ? await factsOf(pid) : undefined;
      return facts === undefined ? [] : [{ ...facts, pid }];
    }),
  );
  return found.flat();
}

/** A process that is on its way out has no environment any more, but may still hold its files open. */
async function allEnded(processes: ReadonlyMap<string, string>): Promise<boolean> {
  for (const [pid, startedAt] of processes) {
    const facts = await factsOf(pid);
    if (facts?.startedAt === startedAt && !["Z", "X"].includes(facts.state)) {
      return false;
    }
  }
  return true;
}

async function factsOf(pid: string): Promise<ProcessFacts | undefined> {
  // `4711 (name of (any) kind) S <parent> <group> ...`: proc(5), where the start time is field 22.
  const text = await readProcess(pid, "stat");
  const [, state, , group, ...rest] = text.slice(text.lastIndexOf(")")).split(" ");
  const startedAt = rest[16];
  return state === undefined || startedAt === undefined
    ? undefined
    : { state, group: Number(group), startedAt };
}

/** Empty when it has ended meanwhile, or is somebody else's. */
function readProcess(pid: string, file: "environ" | "stat"): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, "latin1").catch(() => "");
}
