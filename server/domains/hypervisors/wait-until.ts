import { setTimeout as sleep } from "node:timers/promises";
import type { Json } from "../../operations/operation.ts";
import type { StepRun } from "../../operations/operation-kind.ts";

/** What a step waits for, and for how long. */
export interface Wait {
  /** For people, e.g. `its guest agent`. */
  readonly what: string;
  readonly limitSeconds: number;
  readonly pollMs: number;
}

/**
 * Looks again and again until it is so, telling how long that takes; at least once.
 * @returns false when it is not so within the limit
 * @throws what `look` throws, and the signal's reason
 */
export async function waitUntil(
  look: () => Promise<boolean>,
  { signal, progress }: Pick<StepRun<Json, null>, "signal" | "progress">,
  { what, limitSeconds, pollMs }: Wait,
): Promise<boolean> {
  const beganAtMs = performance.now();
  while (!(await look())) {
    const seconds = Math.round((performance.now() - beganAtMs) / 1000);
    if (seconds >= limitSeconds) {
      return false;
    }
    progress({ message: `waiting for ${what}, ${seconds} s of ${limitSeconds} s` });
    await sleep(pollMs, undefined, { signal });
  }
  return true;
}
