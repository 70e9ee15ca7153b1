import { setImmediate } from "node:timers/promises";

/** What may be done in one go before others have their turn. */
const sliceMs = 5;

/** Runs steps to their end, and lets the event loop go round whenever they have taken some milliseconds. */
export async function inSlices<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const beganAtMs = performance.now();
    do {
      const { done, value } = steps.next();
      if (done === true) {
        return value;
      }
    } while (performance.now() - beganAtMs < sliceMs);
    await setImmediate();
  }
}
