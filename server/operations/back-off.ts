const longestPauseMs = 60_000;

/** How long to wait before the next attempt: twice as long each time, and not for all the same. */
export function backOffMs(failures: number, firstMs: number): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestPauseMs) * (0.5 + Math.random() / 2);
}

/** Waits, but not when one of the signals is aborted. */
export function pause(ms: number, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      for (const signal of signals) {
        signal.removeEventListener("abort", done);
      }
      resolve();
    };
    const timer = setTimeout(done, ms);
    for (const signal of signals) {
      signal.addEventListener("abort", done, { once: true });
    }
    if (signals.some(({ aborted }) => aborted)) {
      done();
    }
  });
}
