/** How long refusals are only counted after one was reported. */
const quietMs = 60_000;

/**
 * Reports a refused connection or request at once, and then none for a minute, so that a client cannot fill a disk by sending
 * more. The next report includes the number of omitted ones.
 */
export function createRefusalLog(
  report: (refused: {
    readonly address: string | undefined;
    readonly why: string;
    readonly omittedCount: number;
  }) => void,
): (address: string | undefined, why: string) => void {
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  let omittedCount = 0;
  return (address, why) => {
    const nowMs = performance.now();
    if (nowMs - reportedAtMs < quietMs) {
      omittedCount += 1;
      return;
    }
    report({ address, why, omittedCount });
    reportedAtMs = nowMs;
    omittedCount = 0;
  };
}
