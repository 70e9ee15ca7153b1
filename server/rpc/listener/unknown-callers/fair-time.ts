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
  totalLeft(): number;
}

/** How long a share saves unused time, and the minimum it can save, so that even many shares are useful. */
const savedSeconds = 2;
const minimumSavedMs = 15;
/** How long the total saves unused time. */
const totalSavedSeconds = 0.2;

/** A token bucket. Its debt is limited to its capacity. */
class Bucket {
  #leftMs: number;
  #filledAtMs: number;

  constructor(capacityMs: number, nowMs: number) {
    this.#leftMs = capacityMs;
    this.#filledAtMs = nowMs;
  }

  fill(msPerSecond: number, capacityMs: number, nowMs: number): number {
    const earnedMs = ((nowMs - this.#filledAtMs) / 1000) * msPerSecond;
    this.#filledAtMs = nowMs;
    this.#leftMs = Math.min(this.#leftMs + earnedMs, capacityMs);
    return this.#leftMs;
  }

  take(ms: number, capacityMs: number): void {
    this.#leftMs = Math.max(this.#leftMs - ms, -capacityMs);
  }
}

/**
 * Divides `msPerSecond` milliseconds of each second evenly among shares. A share saves unused time for two seconds, and the total
 * for a fifth of a second, so a burst is short however many shares there are.
 * @param nowMs a monotonic clock
 */
export function createFairTime(msPerSecond: number, nowMs: () => number): FairTime {
  const totalCapacityMs = msPerSecond * totalSavedSeconds;
  const inAll = new Bucket(totalCapacityMs, nowMs());
  let shares = 0;

  const rate = () => msPerSecond / Math.max(shares, 1);
  const capacityMs = () => Math.max(rate() * savedSeconds, minimumSavedMs);
  const totalLeft = () => inAll.fill(msPerSecond, totalCapacityMs, nowMs());

  return {
    join() {
      shares += 1;
      const share = new Bucket(capacityMs(), nowMs());
      const left = () => share.fill(rate(), capacityMs(), nowMs());
      let hasLeft = false;
      return {
        take(ms) {
          left();
          totalLeft();
          share.take(ms, capacityMs());
          inAll.take(ms, totalCapacityMs);
        },
        left,
        isFull: () => left() >= capacityMs(),
        leave() {
          shares -= hasLeft ? 0 : 1;
          hasLeft = true;
        },
      };
    },
    totalLeft,
  };
}
