/** Waits for work until the signal aborts, then rejects with its reason; the work itself continues. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const { promise: left, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, left]);
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}
