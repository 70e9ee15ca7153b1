import { createRing, type Ring, type RingElement } from "../../call/ring.ts";

/** A share of a limited amount. */
export interface Share {
  add(amount: number): void;
  release(): void;
}

export interface FairShares {
  /**
   * Takes a share for a key. It may be cut at once, or by any later call.
   * @param onCut called when the share is taken back, after it is released
   */
  take(key: string, amount: number, onCut: () => void): Share;
  /** Returns the sum of all shares. */
  held(): number;
}

interface Holder {
  held: number;
  /** The oldest first. */
  readonly shares: Ring<Taken>;
}

interface Taken extends RingElement {
  amount: number;
  readonly holder: Holder;
  readonly onCut: () => void;
}

/** Part of the total that is freed when it is exceeded, so that the largest holder need not be searched for each time. */
const freedPart = 1 / 8;

/**
 * Divides an amount among keys. A key that exceeds its own limit loses its oldest shares. When the total is exceeded the key with
 * the largest sum loses them, so a key that holds little is never affected.
 */
export function createFairShares(limits: { readonly total: number; readonly perKey: number }): FairShares {
  const holders = new Map<string, Holder>();
  let total = 0;

  function release(taken: Taken, key: string): boolean {
    const { holder } = taken;
    if (taken.previous === undefined) {
      return false;
    }
    holder.shares.delete(taken);
    total -= taken.amount;
    holder.held -= taken.amount;
    if (holder.shares.size() === 0) {
      holders.delete(key);
    }
    return true;
  }

  function cutOldest(holder: Holder, key: string): void {
    const oldest = holder.shares.first();
    if (oldest !== undefined && release(oldest, key)) {
      oldest.onCut();
    }
  }

  function keepToLimits(holder: Holder, key: string): void {
    while (holder.held > limits.perKey) {
      cutOldest(holder, key);
    }
    const target = total > limits.total ? limits.total * (1 - freedPart) : limits.total;
    while (total > target) {
      const [largestKey, largest] = [...holders].reduce((a, b) => (b[1].held > a[1].held ? b : a));
      const leastHeld = largest.held / 2;
      while (total > target && largest.held > leastHeld) {
        cutOldest(largest, largestKey);
      }
    }
  }

  return {
    take(key, amount, onCut) {
      let holder = holders.get(key);
      if (holder === undefined) {
        holder = { held: 0, shares: createRing() };
        holders.set(key, holder);
      }
      const taken: Taken = { amount, holder, onCut, previous: undefined, next: undefined };
      const of = holder;
      of.shares.add(taken);
      of.held += amount;
      total += amount;
      keepToLimits(of, key);
      return {
        add(more) {
          if (taken.previous !== undefined) {
            taken.amount += more;
            of.held += more;
            total += more;
            keepToLimits(of, key);
          }
        },
        release: () => void release(taken, key),
      };
    },
    held: () => total,
  };
}
