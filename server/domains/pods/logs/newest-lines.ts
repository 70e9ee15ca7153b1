import { type LogLine, leastLineBytes } from "./log-line.ts";

/** The newest of the lines that it is told. */
export interface NewestLines {
  add(lines: readonly LogLine[]): void;
  /** How many it was told, and those that it has, oldest first. */
  seen(): number;
  kept(): readonly LogLine[];
}

/**
 * Keeps no more than so many lines, and so many bytes of them, as messages have them: what it keeps is what may fit, not what
 * does. One line it keeps in any case.
 */
export function createNewestLines(maxLines: number, maxBytes: number): NewestLines {
  let lines: LogLine[] = [];
  /** Those before have been dropped. */
  let first = 0;
  let bytes = 0;
  let seen = 0;

  const costOf = (line: LogLine | undefined) => (line?.bytes.length ?? 0) + leastLineBytes;

  return {
    add(added) {
      for (const line of added) {
        lines.push(line);
        bytes += costOf(line);
        seen += 1;
        while (lines.length - first > 1 && (lines.length - first > maxLines || bytes > maxBytes)) {
          bytes -= costOf(lines[first]);
          first += 1;
        }
      }
      if (first * 2 > lines.length) {
        lines = lines.slice(first);
        first = 0;
      }
    },
    seen: () => seen,
    kept: () => lines.slice(first),
  };
}
