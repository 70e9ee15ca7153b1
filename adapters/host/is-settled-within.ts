/**
 * Reports whether a promise settles, fulfilled or rejected, within this many milliseconds (at most 2^31 - 1). The timer
 * does not keep the process alive.
 */
export function isSettledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, false).unref();
    const settle = () => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settle, settle);
  });
}
