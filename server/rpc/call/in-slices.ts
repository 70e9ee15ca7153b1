import { type Charged, chargeLoopTime } from "./loop-time.ts";

/** Maximum time of one slice before other work may run. */
const sliceMs = 5;

const waiting: (() => void)[] = [];

/**
 * Runs steps to their end, and yields to the event loop every few milliseconds. If several run at once, only one of them runs per
 * turn of the loop, so that other work does not wait longer when there are many.
 * @param charged charged for the CPU time
 */
export async function inSlices<Result>(steps: Generator<void, Result>, charged?: Charged): Promise<Result> {
  for (;;) {
    if (charged !== undefined) {
      chargeLoopTime(charged);
    }
    const beganAtMs = performance.now();
    do {
      const { done, value } = steps.next();
      if (done === true) {
        return value;
      }
    } while (performance.now() - beganAtMs < sliceMs);
    await nextTurn();
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) {
      setImmediate(runNext);
    }
  });
}

function runNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) {
    setImmediate(runNext);
  }
}
