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
const pollEveryMs = 25;

/**
 * Returns the environment that marks a tool and its descendants, so that they are found even after a crash of the
 * gateway.
 */
export function markOf(token: string): { readonly HOSTPLANE_STEP: string } {
  return { HOSTPLANE_STEP: token };
}

/**
 * Stops every process that has the mark of this token in its environment, with its whole process group: SIGTERM and,
 * half a second later, SIGKILL. Resolves when none is left. Finds processes of the gateway's own user, or of all users
 * when run as root.
 *
 * Also waits for a process that survives SIGKILL because it is blocked on a disk.
 */
export async function stopMarked(token: string): Promise<void> {
  const startedAtMs = performance.now();
  const stopped = new Map<string, string>();
  // A process has no environment for a moment after fork and during execve(2).
  let emptyPolls = 0;
  for (;;) {
    const marked = await markedProcesses(token);
    emptyPolls = marked.length === 0 ? emptyPolls + 1 : 0;
    if (emptyPolls > 1 && (await allEnded(stopped))) {
      return;
    }
    const signal = performance.now() - startedAtMs < killAfterMs ? "SIGTERM" : "SIGKILL";
    for (const { pid, startedAt } of marked) {
      stopped.set(pid, startedAt);
    }
    for (const group of new Set(marked.map((one) => one.group))) {
      killGroup(group, signal);
    }
    await sleep(pollEveryMs);
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

/**
 * Reports whether all these processes have ended. An exiting process has no environment any more, but may still have
 * files open.
 */
async function allEnded(processes: ReadonlyMap<string, string>): Promise<boolean> {
  for (const [pid, startedAt] of processes) {
    if (await isRunning(pid, startedAt)) {
      return false;
    }
  }
  return true;
}
