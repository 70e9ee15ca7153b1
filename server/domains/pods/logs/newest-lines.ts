import { type LogLine, leastLineBytes } from "./log-line.ts";

/** Keeps the newest of the lines added to it. */
export interface NewestLines {
  add(lines: readonly LogLine[]): void;
  /** Number of lines added, and the lines kept, oldest first. */
  seen(): number;
  kept(): readonly LogLine[];
}

/**
 * Creates a buffer for at most `maxLines` lines and `maxBytes` bytes in messages. Its contents may fit into a message but do
 * not have to. At least one line is always kept.
 */
export function createNewestLines(maxLines: number, maxBytes: number): NewestLines {
  let lines: LogLine[] = [];
  /** Index of the first kept line; the ones before it are dropped. */
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
