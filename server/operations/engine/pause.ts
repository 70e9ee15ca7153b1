import { backOffMs } from "../../../adapters/host/back-off.ts";

const longestMs = 60_000;

/** Waits before the next attempt after a number of failures. An aborted signal ends the wait. */
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
