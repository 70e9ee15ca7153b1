/** A share of CPU time. */
export interface TimeShare {
  /** Takes `ms` milliseconds; a negative number returns them. */
  take(ms: number): void;
  /** Returns the milliseconds that may be taken; negative if too many were taken. */
  left(): number;
  /** Reports whether replacing the share by a new one would lose nothing. */
  isFull(): boolean;
  leave(): void;
}

export interface FairTime {
  /** Creates a full share. */
  join(): TimeShare;
  /** Returns the milliseconds that all shares together may take; negative if too many were taken. */
  leftInAll(): number;
}

/** How long a share saves unused time, and the minimum it can save, so that even many shares are useful. */
const savedSeconds = 2;
const leastSavedMs = 15;
/** How long the total saves unused time. */
const savedInAllSeconds = 0.2;

/** A token bucket. Its debt is limited to its capacity. */
class Bucket {
  #leftMs: number;
  #filledAtMs: number;

  constructor(mostMs: number, nowMs: number) {
    this.#leftMs = mostMs;
    this.#filledAtMs = nowMs;
  }

  fill(msPerSecond: number, mostMs: number, nowMs: number): number {
    const earnedMs = ((nowMs - this.#filledAtMs) / 1000) * msPerSecond;
    this.#filledAtMs = nowMs;
    this.#leftMs = Math.min(this.#leftMs + earnedMs, mostMs);
    return this.#leftMs;
  }

  take(ms: number, mostMs: number): void {
    this.#leftMs = Math.max(this.#leftMs - ms, -mostMs);
  }
}

/**
 * Divides `msPerSecond` milliseconds of each second evenly among shares. A share saves unused time for two seconds, and the total
 * for a fifth of a second, so a burst is short however many shares there are.
 * @param nowMs a monotonic clock
 */
export function createFairTime(msPerSecond: number, nowMs: () => number): FairTime {
  const mostInAllMs = msPerSecond * savedInAllSeconds;
  const inAll = new Bucket(mostInAllMs, nowMs());
  let shares = 0;

  const rate = () => msPerSecond / Math.max(shares, 1);
  const mostMs = () => Math.max(rate() * savedSeconds, leastSavedMs);
  const leftInAll = () => inAll.fill(msPerSecond, mostInAllMs, nowMs());

  return {
    join() {
      shares += 1;
      const share = new Bucket(mostMs(), nowMs());
      const left = () => share.fill(rate(), mostMs(), nowMs());
      let hasLeft = false;
      return {
        take(ms) {
          left();
          leftInAll();
          share.take(ms, mostMs());
          inAll.take(ms, mostInAllMs);
        },
        left,
        isFull: () => left() >= mostMs(),
        leave() {
          shares -= hasLeft ? 0 : 1;
          hasLeft = true;
        },
      };
    },
    leftInAll,
  };
}
