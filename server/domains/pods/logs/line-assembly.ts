import type { LogPiece } from "../../../../adapters/podman/adapter.ts";
import type { LogLine } from "./log-line.ts";

/** Makes lines of the pieces of one container's log. */
export interface LineAssembly {
  /** The lines that end with these pieces, in the order of their ends. */
  linesOf(pieces: readonly LogPiece[]): LogLine[];
  /** Whether a line has begun that has not ended. */
  hasBegun(): boolean;
  /** Ends what has begun: its end will not come. The earlier one first. */
  end(): LogLine[];
}

interface BegunLine {
  timeNs: bigint;
  readonly parts: Uint8Array[];
  size: number;
  cutBytes: number;
}

/**
 * Both streams of a container may have a line under way. A line has the time of its last piece: so lines that follow each other in a log
 * have times that do, too.
 * @param maxBytes what a line has more than that is counted and dropped
 */
export function createLineAssembly(maxBytes: number): LineAssembly {
  const begun = new Map<LogPiece["stream"], BegunLine>();

  function add(line: BegunLine, bytes: Uint8Array): void {
    const fitting = Math.min(bytes.length, maxBytes - line.size);
    if (fitting > 0) {
      // A copy: a piece is a view of all that came together with it.
      line.parts.push(bytes.slice(0, fitting));
      line.size += fitting;
    }
    line.cutBytes += bytes.length - fitting;
  }

  function lineOf({ stream, timeNs, bytes, endsLine }: LogPiece): LogLine | undefined {
    const earlier = begun.get(stream);
    if (endsLine && earlier === undefined && bytes.length <= maxBytes) {
      return { timeNs, bytes, cutBytes: 0 };
    }
    const line = earlier ?? { timeNs, parts: [], size: 0, cutBytes: 0 };
    line.timeNs = timeNs;
    add(line, bytes);
    if (!endsLine) {
      begun.set(stream, line);
      return undefined;
    }
    begun.delete(stream);
    return joined(line);
  }

  return {
    linesOf: (pieces) => pieces.flatMap((piece) => lineOf(piece) ?? []),
    hasBegun: () => begun.size > 0,
    end() {
      const lines = [...begun.values()].map(joined);
      begun.clear();
      return lines.sort((a, b) => (a.timeNs < b.timeNs ? -1 : a.timeNs > b.timeNs ? 1 : 0));
    },
  };
}

function joined({ timeNs, parts, size, cutBytes }: BegunLine): LogLine {
  return { timeNs, bytes: Buffer.concat(parts, size), cutBytes };
}
