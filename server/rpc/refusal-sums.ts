/** What is summed: refused calls from one address. */
export interface RefusalSum<Refusal> {
  readonly address: string;
  readonly count: number;
  /** The last of them. */
  readonly last: Refusal;
}

export interface RefusalSums<Refusal> {
  add(address: string, refusal: Refusal): void;
  /** Writes what was not written yet; what cannot be written is kept for later. */
  flush(): Promise<void>;
}

/** Where addresses beyond `addressesMax` are counted together. */
export const otherAddresses = "other";

/** So many addresses have a row of their own in one minute, and so many wait to be written when that fails. */
const addressesMax = 100;

const flushEveryMs = 1000;
const minuteMs = 60_000;

/**
 * Sums refused calls by address, so that whoever is refused a million times has written a handful of rows.
 * @param write adds the sums to the rows of this minute
 * @param nowMs a clock that never goes back
 */
export function createRefusalSums<Refusal>(
  write: (sums: readonly RefusalSum<Refusal>[]) => Promise<void>,
  onFailed: (error: unknown) => void,
  nowMs: () => number = () => performance.now(),
): RefusalSums<Refusal> {
  let waiting = new Map<string, RefusalSum<Refusal>>();
  const addressesOfMinute = new Set<string>();
  let minute = 0;
  let timer: NodeJS.Timeout | undefined;
  let flushing = Promise.resolve();

  function placeOf(address: string): string {
    const now = Math.floor(nowMs() / minuteMs);
    if (now !== minute) {
      minute = now;
      addressesOfMinute.clear();
    }
    const hasPlace = addressesOfMinute.has(address) || addressesOfMinute.size < addressesMax;
    if (!hasPlace || (!waiting.has(address) && waiting.size >= addressesMax)) {
      return otherAddresses;
    }
    addressesOfMinute.add(address);
    return address;
  }

  function count(address: string, by: number, last: Refusal): void {
    waiting.set(address, { address, count: (waiting.get(address)?.count ?? 0) + by, last });
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
        count(placeOf(sum.address), sum.count, sum.last);
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
    add: (address, refusal) => count(placeOf(address), 1, refusal),
    flush,
  };
}
