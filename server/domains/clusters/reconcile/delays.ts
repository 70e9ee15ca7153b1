import { backOffMs } from "../../../../adapters/host/back-off.ts";

/** Delay before a retry after the given number of consecutive failures: 2 s to 2 min with a poll interval of 10 s. */
export function retryDelayMs(failures: number, pollMs: number): number {
  return Math.ceil(backOffMs(failures, { firstMs: pollMs / 5, longestMs: 12 * pollMs }));
}

/** Delay before the next search for a free machine: 15 s to 2 min with a poll interval of 10 s. */
export function freeMachineDelayMs(failures: number, pollMs: number): number {
  return Math.ceil(backOffMs(failures, { firstMs: 1.5 * pollMs, longestMs: 12 * pollMs }));
}
