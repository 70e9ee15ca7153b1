/** The longest delay of a Node timer, some 24 days; a longer one fires at once. */
const longestMs = 2 ** 31 - 1;

/**
 * Calls back once, when this host's clock reaches `atMs` (milliseconds since 1970), however far off that is. A time in
 * the past fires on the next turn of the event loop.
 * @param ref whether the timer keeps the process alive
 * @returns a function that cancels the call
 */
export function callAt(atMs: number, callBack: () => void, { ref }: { readonly ref: boolean }): () => void {
  let timer: NodeJS.Timeout;
  function wait(): void {
    const leftMs = Math.max(0, atMs - Date.now());
    timer = setTimeout(leftMs > longestMs ? wait : callBack, Math.min(leftMs, longestMs));
    if (!ref) {
      timer.unref();
    }
  }
  wait();
  return () => clearTimeout(timer);
}
