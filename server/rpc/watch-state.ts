/**
 * States as a watcher may see them: the first at once, then the newest after each wake. A watcher that is
 * slower than the changes gets the newest state next, never a queue of old ones.
 * @param subscribe registers what is called when the state may have changed
 * @param read the newest state
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
