/** The longest time that a timer of Node takes, some 24 days; a longer one goes off at once. */
const longestMs = 2 ** 31 - 1;

/**
 * Calls back once, when this host's clock says `atMs` (since 1970), however far off that is; in the next turn when it has passed.
 * @param ref whether waiting for it keeps the process alive
 * @returns what takes that back
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
