import type { LogPiece } from "../adapter.ts";

/** Position of a reader in a container's log, so that it can continue there. */
export interface LogPosition {
  /** Returns the time from which the next connection reads the log; undefined for its beginning. */
  sinceNs(): bigint | undefined;
  /** Returns the pieces that no earlier connection delivered. */
  newOf(pieces: readonly LogPiece[]): readonly LogPiece[];
}

const secondNs = 1_000_000_000n;

/**
 * Tracks the position by time. Podman 4.3.1 reports the time of a line only in seconds. So the next connection starts a
 * second before the last line, and of the pieces with the last line's time, as many are skipped as were read already: a
 * log is always read in the same order.
 * @param firstNs the start time that the reader requested
 */
export function createLogPosition(firstNs: bigint | undefined): LogPosition {
  let lastNs: bigint | undefined;
  /** Number of pieces with the time `lastNs` that were read, and how many of them this connection still has to skip. */
  let count = 0;
  let leftOut = 0;

  return {
    sinceNs() {
      leftOut = count;
      if (lastNs === undefined) {
        return firstNs;
      }
      const sinceNs = lastNs - (lastNs % secondNs) - secondNs;
      return firstNs !== undefined && firstNs > sinceNs ? firstNs : sinceNs;
    },
    newOf(pieces) {
      const found: LogPiece[] = [];
      for (const piece of pieces) {
        if (leftOut > 0 && lastNs !== undefined && piece.timeNs <= lastNs) {
          leftOut -= piece.timeNs === lastNs ? 1 : 0;
          continue;
        }
        // If the clock was set back, later pieces are still new.
        leftOut = 0;
        count = piece.timeNs === lastNs ? count + 1 : 1;
        lastNs = piece.timeNs;
        found.push(piece);
      }
      return found;
    },
  };
}
