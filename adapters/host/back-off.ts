/** How long to wait before what has failed so often is tried again: twice as long each time up to a limit, and not for all the same. */
export function backOffMs(
  failures: number,
  { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs) * (0.5 + Math.random() / 2);
}
