/**
 * Whether a promise is settled within so many milliseconds (at most 2^31 - 1), well or not. The wait keeps no process alive.
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
