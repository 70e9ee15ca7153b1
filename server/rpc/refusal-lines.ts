import { createRefusalSums } from "./refusal-sums.ts";

/** Log lines of refused calls that nobody has to answer for: a bounded number in a minute, the rest is counted. */
export interface RefusalLines<Line> {
  /** @param key what the calls have in common that are counted together, such as their address and reason */
  add(key: string, line: Line): void;
  /** Writes the counts that are not written yet. */
  flush(): Promise<void>;
}

/** So many lines of one key are written in a minute before the rest is counted, and so many of all keys. */
const linesPerKey = 5;
const linesMax = 100;

const minuteMs = 60_000;

/**
 * @param write writes one line
 * @param writeCount writes, once a minute, how many further lines a key would have had; `last` is the newest of them
 * @param nowMs a clock that never goes back
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
