/** How long what is refused after one that was told is only counted. */
const quietMs = 60_000;

/**
 * Tells of a refused connection or request at once, and then of no other for a minute, so that nobody can fill a
 * disk by sending more; the next one that is told says how many were not.
 */
export function createRefusalLog(
  tell: (refused: {
    readonly address: string | undefined;
    readonly why: string;
    readonly untold: number;
  }) => void,
): (address: string | undefined, why: string) => void {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (address, why) => {
    const nowMs = performance.now();
    if (nowMs - toldAtMs < quietMs) {
      untold += 1;
      return;
    }
    tell({ address, why, untold });
    toldAtMs = nowMs;
    untold = 0;
  };
}
