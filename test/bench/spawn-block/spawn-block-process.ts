import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readSync } from "node:fs";
import { run } from "../../../adapters/host/process/run.ts";
import { answerParent } from "../servers/bench-process.ts";

/** Number of tools to start one after the other, and the quantile to report. */
export interface RequestedStarts {
  readonly by: "run" | "child_process";
  readonly starts: number;
  /** Quantile of the starts' longest blocks, e.g. 0.99. */
  readonly quantile: number;
}

export type SpawnBlockAnswers = {
  /** Fills memory; returns the resident MiB. */
  hold(mebibytes: number): number;
  /** Returns the quantile of the time in milliseconds for which a start blocked the event loop. */
  block(requested: RequestedStarts): Promise<number>;
};

const held: number[][] = [];
const doublesInMebibyte = 131_072;

const startsBy: Readonly<Record<RequestedStarts["by"], () => Promise<unknown>>> = {
  run: () => run(["/bin/true"], { kind: "read" }),
  async child_process() {
    const child = spawn("/bin/true", [], { detached: true, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.resume();
    child.stderr.resume();
    await once(child, "close");
  },
};

// Nanoseconds that this thread has run and that it has waited for a core (proc-schedstat). Kept open, since it is read often.
const schedstat = openSync("/proc/thread-self/schedstat", "r");
const schedstatText = Buffer.alloc(100);

/** Returns the time without waits for a core, so that other load on the machine does not count. */
function ownTimeMs(): number {
  const length = readSync(schedstat, schedstatText, 0, schedstatText.length, 0);
  const waitedNs = Number(schedstatText.toString("latin1", 0, length).split(" ")[1]);
  return performance.now() - waitedNs / 1e6;
}

/** Returns the longest time between two turns of the event loop during the work, including its first synchronous part. */
async function longestBlockMs(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let isDone = false;
  let turnAtMs = ownTimeMs();
  const done = work().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise(setImmediate);
    const nowMs = ownTimeMs();
    longestMs = Math.max(longestMs, nowMs - turnAtMs);
    turnAtMs = nowMs;
  }
  await done;
  return longestMs;
}

const answers: SpawnBlockAnswers = {
  hold(mebibytes) {
    for (let left = mebibytes; left > 0; left -= 1) {
      held.push(new Array(doublesInMebibyte).fill(left + 0.5));
    }
    return process.memoryUsage.rss() / 2 ** 20;
  },
  async block({ by, starts, quantile }) {
    const blocksMs: number[] = [];
    for (let left = starts; left > 0; left -= 1) {
      blocksMs.push(await longestBlockMs(startsBy[by]));
    }
    const sorted = blocksMs.toSorted((a, b) => a - b);
    return sorted[Math.ceil(starts * quantile) - 1] ?? Number.NaN;
  },
};

answerParent(answers, () => held.splice(0));
