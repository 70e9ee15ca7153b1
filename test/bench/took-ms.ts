import { setTimeout as sleep } from "node:timers/promises";

/** How often something is called, and for how long. */
export interface CallRate {
  readonly callsPerSecond: number;
  readonly durationMs: number;
}

/** Milliseconds until it is done. */
export async function tookMs(work: () => Promise<unknown>): Promise<number> {
  const beganAtMs = performance.now();
  await work();
  return performance.now() - beganAtMs;
}

/** Begins calls at their rate, whether those before have ended or not; the milliseconds that 99 % of them take at most. */
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
