import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../../adapters/sandbox/clock.ts";

/** A clock that stands still until a test steps it. */
export interface SteppedClock extends Clock {
  /** Advances the time, and runs each timer at its own time. What a timer starts has a turn before the next one. */
  step(ms: number): Promise<void>;
}

export function createSteppedClock(startMs = Date.UTC(2026, 0, 1)): SteppedClock {
  let nowMs = startMs;
  let timers: { readonly atMs: number; readonly run: () => void }[] = [];

  function setTimer(ms: number, run: () => void): () => void {
    const timer = { atMs: nowMs + ms, run };
    timers.push(timer);
    return () => {
      timers = timers.filter((each) => each !== timer);
    };
  }

  return {
    nowMs: () => nowMs,
    setTimer,
    sleep(ms, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      signal?.throwIfAborted();
      const cancel = setTimer(ms, resolve);
      signal?.addEventListener("abort", () => {
        cancel();
        reject(signal.reason);
      });
      return promise;
    },
    async step(ms) {
      const untilMs = nowMs + ms;
      for (;;) {
        await nextTurn();
        const next = timers.toSorted((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined || next.atMs > untilMs) {
          nowMs = untilMs;
          return;
        }
        timers = timers.filter((each) => each !== next);
        nowMs = next.atMs;
        next.run();
      }
    },
  };
}
