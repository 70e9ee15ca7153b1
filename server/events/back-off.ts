const shortestMs = 100;
const longestMs = 5_000;

/** How long to wait before what has failed so often is tried again: longer each time, and not at the same time as others. */
export function retryDelayMs(failures: number): number {
  return Math.min(longestMs, shortestMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}
