/** The CPU time of one of those who share it. */
export interface TimeShare {
  /** Takes so many milliseconds; less than none gives them back. */
  take(ms: number): void;
  /** Milliseconds that may be taken; less than none after too many were. */
  left(): number;
  /** Whether nothing is lost when the share is given up and another one is taken. */
  isFull(): boolean;
  leave(): void;
}

export interface FairTime {
  /** A share that is full. */
  join(): TimeShare;
  /** Milliseconds that all shares may take together; less than none after too many were taken. */
  leftInAll(): number;
}

/** How long a share saves what it does not take, and how much it can save at least, so that many shares are of use. */
const savedSeconds = 2;
const leastSavedMs = 15;
/** How long all of them together save. */
const savedInAllSeconds = 0.2;

/** A token bucket; it owes at most as much as it can hold. */
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
 * Divides so many milliseconds of each second evenly among shares. What a share does not take is saved for two seconds, and in
 * all for a fifth of a second, so that a burst is short however many shares there are.
 * @param nowMs a clock that does not go back
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
