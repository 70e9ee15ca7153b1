import { type Charged, chargeLoopTime } from "./loop-time.ts";

/** What may be done in one go before others have their turn. */
const sliceMs = 5;

const waiting: (() => void)[] = [];

/**
 * Runs steps to their end, and lets the event loop go round whenever they have taken some milliseconds. Of all steps that run at
 * once those of one have their turn in a round, so that others wait no longer however many there are.
 * @param charged what the CPU time counts for
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
      setImmediate(giveTurn);
    }
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) {
    setImmediate(giveTurn);
  }
}
