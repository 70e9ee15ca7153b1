import { setTimeout as sleep } from "node:timers/promises";
import {
  isRunning,
  listPids,
  type ProcessFacts,
  readProcessEnvironment,
  readProcessFacts,
} from "./process-facts.ts";
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

interface MarkedProcess extends ProcessFacts {
  readonly pid: string;
}

async function markedProcesses(token: string): Promise<readonly MarkedProcess[]> {
  const mark = Buffer.from(`HOSTPLANE_STEP=${token}`).toString("latin1");
  const found = await Promise.all(
    (await listPids()).map(async (pid) => {
      const isMarked = (await readProcessEnvironment(pid)).includes(mark);
      const facts = isMarked ? await readProcessFacts(pid) : undefined;
      return facts === undefined ? [] : [{ ...facts, pid }];
    }),
  );
  return found.flat();
}

/** A process that is on its way out has no environment any more, but may still hold its files open. */
async function allEnded(processes: ReadonlyMap<string, string>): Promise<boolean> {
  for (const [pid, startedAt] of processes) {
    if (await isRunning(pid, startedAt)) {
      return false;
    }
  }
  return true;
}
