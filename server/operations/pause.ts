import { backOffMs } from "../../adapters/host/back-off.ts";

const longestMs = 60_000;

/** Waits before the next attempt of what has failed so often, but not when one of the signals is aborted. */
export function pause(failures: number, firstMs: number, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      for (const signal of signals) {
        signal.removeEventListener("abort", done);
      }
      resolve();
    };
    const timer = setTimeout(done, backOffMs(failures, { firstMs, longestMs }));
    for (const signal of signals) {
      signal.addEventListener("abort", done, { once: true });
    }
    if (signals.some(({ aborted }) => aborted)) {
      done();
    }
  });
}
