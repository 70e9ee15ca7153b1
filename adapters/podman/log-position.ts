import type { LogPiece } from "./adapter.ts";

/** Where a reader of a container's log is, so that it can go on there. */
export interface LogPosition {
  /** From when on the log is to be read, for the next connection; undefined for its beginning. */
  sinceNs(): bigint | undefined;
  /** Those of the pieces that no connection has brought before. */
  newOf(pieces: readonly LogPiece[]): readonly LogPiece[];
}

const secondNs = 1_000_000_000n;

/**
 * Podman 4.3.1 tells the second of a line, and no more. So the next connection begins a second before the last line, and of the
 * pieces with the last line's time as many are left out as were read already: a log is always read in the same order.
 * @param firstNs from when on the reader wants the log
 */
export function createLogPosition(firstNs: bigint | undefined): LogPosition {
  let lastNs: bigint | undefined;
  /** How many pieces with the time `lastNs` were read, and how many of them this connection has to leave out yet. */
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
        // A clock that was set back makes nothing that comes later old.
        leftOut = 0;
        count = piece.timeNs === lastNs ? count + 1 : 1;
        lastNs = piece.timeNs;
        found.push(piece);
      }
      return found;
    },
  };
}
