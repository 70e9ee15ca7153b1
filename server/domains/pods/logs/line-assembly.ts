import type { LogPiece } from "../../../../adapters/podman/adapter.ts";
import type { LogLine } from "./log-line.ts";

/** Assembles lines from the pieces of one container's log. */
export interface LineAssembly {
  /** Returns the lines that end in these pieces, in the order of their ends. */
  linesOf(pieces: readonly LogPiece[]): LogLine[];
  /** Reports whether a line is unfinished. */
  hasUnfinishedLine(): boolean;
  /** Ends unfinished lines, the earlier one first. */
  end(): LogLine[];
}

interface UnfinishedLine {
  timeNs: bigint;
  readonly parts: Uint8Array[];
  size: number;
  cutBytes: number;
}

/**
 * Creates an assembly. Each of a container's two streams may have an unfinished line. A line gets the time of its last piece,
 * so that lines in log order are also in order of time.
 * @param maxBytes bytes of a line beyond that are counted and dropped
 */
export function createLineAssembly(maxBytes: number): LineAssembly {
  const unfinished = new Map<LogPiece["stream"], UnfinishedLine>();

  function add(line: UnfinishedLine, bytes: Uint8Array): void {
    const fitting = Math.min(bytes.length, maxBytes - line.size);
    if (fitting > 0) {
      // Copied, since a piece is a view of the whole chunk it arrived in.
      line.parts.push(bytes.slice(0, fitting));
      line.size += fitting;
    }
    line.cutBytes += bytes.length - fitting;
  }

  function lineOf({ stream, timeNs, bytes, endsLine }: LogPiece): LogLine | undefined {
    const earlier = unfinished.get(stream);
    if (endsLine && earlier === undefined && bytes.length <= maxBytes) {
      return { timeNs, bytes, cutBytes: 0 };
    }
    const line = earlier ?? { timeNs, parts: [], size: 0, cutBytes: 0 };
    line.timeNs = timeNs;
    add(line, bytes);
    if (!endsLine) {
      unfinished.set(stream, line);
      return undefined;
    }
    unfinished.delete(stream);
    return joined(line);
  }

  return {
    linesOf: (pieces) => pieces.flatMap((piece) => lineOf(piece) ?? []),
    hasUnfinishedLine: () => unfinished.size > 0,
    end() {
      const lines = [...unfinished.values()].map(joined);
      unfinished.clear();
      return lines.sort((a, b) => (a.timeNs < b.timeNs ? -1 : a.timeNs > b.timeNs ? 1 : 0));
    },
  };
}

function joined({ timeNs, parts, size, cutBytes }: UnfinishedLine): LogLine {
  return { timeNs, bytes: Buffer.concat(parts, size), cutBytes };
}
