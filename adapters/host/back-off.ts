/** Returns the delay before the next attempt: it doubles with each failure up to a limit, with jitter. */
export function backOffMs(
  failures: number,
  { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs) * (0.5 + Math.random() / 2);
}
