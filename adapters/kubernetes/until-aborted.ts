/** Waits for work until the signal aborts, then rejects with its reason; the work itself continues. */
export async function untilAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  const { promise: left, reject } = Promise.withResolvers<void>();
  const onAbort = () => reject(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([work, left]);
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}
