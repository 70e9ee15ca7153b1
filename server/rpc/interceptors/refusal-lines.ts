import { createRefusalSums } from "./refusal-sums.ts";

/** Log lines of refused calls without a known caller: a bounded number per minute; the rest is counted. */
export interface RefusalLines<Line> {
  /** @param key what calls that are counted together have in common, such as their address and reason */
  add(key: string, line: Line): void;
  /** Writes the pending counts. */
  flush(): Promise<void>;
}

/** Maximum lines per minute, for one key and for all keys. Further ones are counted. */
const linesPerKey = 5;
const linesMax = 100;

const minuteMs = 60_000;

/**
 * @param write writes one line
 * @param writeCount called once a minute for each key with further lines, with their number; `last` is the newest of them
 * @param nowMs a monotonic clock
 */
export function createRefusalLines<Line>(
  write: (line: Line) => void,
  writeCount: (last: Line, count: number) => void,
  nowMs: () => number = () => performance.now(),
): RefusalLines<Line> {
  const sums = createRefusalSums<Line>(
    async (counted) => {
      for (const { last, count } of counted) {
        writeCount(last, count);
      }
    },
    () => {},
    nowMs,
    minuteMs,
  );
  const linesOfKey = new Map<string, number>();
  let lineCount = 0;
  let minute = 0;
  return {
    add(key, line) {
      const now = Math.floor(nowMs() / minuteMs);
      if (now !== minute) {
        minute = now;
        lineCount = 0;
        linesOfKey.clear();
      }
      const ofKey = linesOfKey.get(key) ?? 0;
      if (ofKey >= linesPerKey || lineCount >= linesMax) {
        sums.add(key, line);
        return;
      }
      linesOfKey.set(key, ofKey + 1);
      lineCount += 1;
      write(line);
    },
    flush: () => sums.flush(),
  };
}
