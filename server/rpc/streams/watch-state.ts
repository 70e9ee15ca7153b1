/**
 * Yields the state immediately, then the newest state after each wake. A watcher that is slower than the changes gets the newest
 * state next, never a queue of old ones.
 * @param subscribe registers a function to call when the state may have changed
 * @param read returns the newest state
 * @param signal ends the watch
 */
export async function* watchState<T>(
  subscribe: (wake: () => void) => () => void,
  read: () => Promise<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void> {
  let isStale = true;
  let wake = () => {};
  const onChange = () => {
    isStale = true;
    wake();
  };
  const unsubscribe = subscribe(onChange);
  signal.addEventListener("abort", onChange, { once: true });
  try {
    while (!signal.aborted) {
      if (!isStale) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      isStale = false;
      yield await read();
    }
  } finally {
    signal.removeEventListener("abort", onChange);
    unsubscribe();
  }
}
