import { setTimeout as sleep } from "node:timers/promises";
import type { Json } from "../../../operations/operation.ts";
import type { StepRun } from "../../../operations/operation-kind.ts";

/** A condition that a step waits for, and its time limit. */
export interface Wait {
  /** Human-readable, for example `its guest agent`. */
  readonly what: string;
  readonly limitSeconds: number;
  readonly pollMs: number;
}

/**
 * Polls a condition until it holds, and reports the time elapsed as progress. Polls at least once.
 * @returns false if the condition does not hold within the limit
 * @throws what `check` throws, and the signal's reason
 */
export async function waitUntil(
  check: () => Promise<boolean>,
  { signal, progress }: Pick<StepRun<Json, null>, "signal" | "progress">,
  { what, limitSeconds, pollMs }: Wait,
): Promise<boolean> {
  const beganAtMs = performance.now();
  while (!(await check())) {
    const seconds = Math.round((performance.now() - beganAtMs) / 1000);
    if (seconds >= limitSeconds) {
      return false;
    }
    progress({ message: `waiting for ${what}, ${seconds} s of ${limitSeconds} s` });
    await sleep(pollMs, undefined, { signal });
  }
  return true;
}
