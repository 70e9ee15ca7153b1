/** How long refusals are only counted after one was reported. */
const quietMs = 60_000;

/**
 * Reports a refused connection or request at once, and then none for a minute, so that a client cannot fill a disk by sending
 * more. The next report includes the number of omitted ones.
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
