import { setTimeout as sleep } from "node:timers/promises";

/** Rate and duration of calls. */
export interface CallRate {
  readonly callsPerSecond: number;
  readonly durationMs: number;
}

/** Returns the duration of the work in milliseconds. */
export async function tookMs(work: () => Promise<unknown>): Promise<number> {
  const beganAtMs = performance.now();
  await work();
  return performance.now() - beganAtMs;
}

/**
 * Starts calls at the given rate, whether earlier ones have finished or not. Returns the 99th percentile of their duration in
 * milliseconds.
 */
export async function p99Ms(
  call: () => Promise<unknown>,
  { callsPerSecond, durationMs }: CallRate,
): Promise<number> {
  const calls: Promise<number>[] = [];
  const beganAtMs = performance.now();
  const count = (callsPerSecond * durationMs) / 1_000;
  while (calls.length < count) {
    const due = Math.min(count, ((performance.now() - beganAtMs) * callsPerSecond) / 1_000);
    while (calls.length < due) {
      calls.push(tookMs(call));
    }
    await sleep(1);
  }
  const sorted = (await Promise.all(calls)).toSorted((a, b) => a - b);
  return sorted[Math.ceil(count * 0.99) - 1] ?? Number.NaN;
}
