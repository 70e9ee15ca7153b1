import { backOffMs } from "../../../../adapters/host/back-off.ts";

/** When what has failed so often in a row is tried again: after 2 s to 2 min where machines are looked at every 10 s. */
export function retryDelayMs(failures: number, pollMs: number): number {
  return Math.ceil(backOffMs(failures, { firstMs: pollMs / 5, longestMs: 12 * pollMs }));
}

/** When a free machine is looked for again: after 15 s to 2 min where machines are looked at every 10 s. */
export function freeMachineDelayMs(failures: number, pollMs: number): number {
  return Math.ceil(backOffMs(failures, { firstMs: 1.5 * pollMs, longestMs: 12 * pollMs }));
}
