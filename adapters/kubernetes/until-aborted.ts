/** What the work ends with, or the signal's reason once that is aborted; the work itself goes on. */
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
