/** Sum of refused calls with the same key. */
export interface RefusalSum<Refusal> {
  readonly key: string;
  readonly count: number;
  /** The last of them. */
  readonly last: Refusal;
}

export interface RefusalSums<Refusal> {
  /** @param key what the calls have in common, such as their address */
  add(key: string, refusal: Refusal): void;
  /** Writes what is pending; what cannot be written is kept for later. */
  flush(): Promise<void>;
}

/** Key that calls with keys beyond `keysMax` are counted under. */
export const otherKeys = "other";

/** Maximum number of keys with their own row per minute, and of keys that wait after a failed write. */
const keysMax = 100;

const minuteMs = 60_000;

/**
 * Sums refused calls by their keys, so that a million refusals of one caller write only a few rows.
 * @param write adds the sums to the rows of this minute
 * @param nowMs a monotonic clock
 * @param flushEveryMs how long a sum waits for further calls before it is written
 */
export function createRefusalSums<Refusal>(
  write: (sums: readonly RefusalSum<Refusal>[]) => Promise<void>,
  onFailed: (error: unknown) => void,
  nowMs: () => number = () => performance.now(),
  flushEveryMs = 1000,
): RefusalSums<Refusal> {
  let waiting = new Map<string, RefusalSum<Refusal>>();
  const keysOfMinute = new Set<string>();
  let minute = 0;
  let timer: NodeJS.Timeout | undefined;
  let flushing = Promise.resolve();

  function keyFor(key: string): string {
    const now = Math.floor(nowMs() / minuteMs);
    if (now !== minute) {
      minute = now;
      keysOfMinute.clear();
    }
    const hasPlace = keysOfMinute.has(key) || keysOfMinute.size < keysMax;
    if (!hasPlace || (!waiting.has(key) && waiting.size >= keysMax)) {
      return otherKeys;
    }
    keysOfMinute.add(key);
    return key;
  }

  function count(key: string, by: number, last: Refusal): void {
    waiting.set(key, { key, count: (waiting.get(key)?.count ?? 0) + by, last });
    timer ??= setTimeout(flush, flushEveryMs).unref();
  }

  async function writeWaiting(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const sums = waiting;
    if (sums.size === 0) {
      return;
    }
    waiting = new Map();
    try {
      await write([...sums.values()]);
    } catch (error) {
      const since = waiting;
      waiting = sums;
      for (const sum of since.values()) {
        count(keyFor(sum.key), sum.count, sum.last);
      }
      timer ??= setTimeout(flush, flushEveryMs).unref();
      onFailed(error);
    }
  }

  function flush(): Promise<void> {
    flushing = flushing.then(writeWaiting);
    return flushing;
  }

  return {
    add: (key, refusal) => count(keyFor(key), 1, refusal),
    flush,
  };
}
