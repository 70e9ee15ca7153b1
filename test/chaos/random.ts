/** Random numbers that a seed reproduces. */
export interface Random {
  /** Returns a number from 0 to less than 1. */
  next(): number;
  /** Returns a whole number from `least` to `most`. */
  int(least: number, most: number): number;
  /** @throws RangeError when the list is empty */
  pick<T>(from: readonly T[]): T;
  happens(probability: number): boolean;
}

/** mulberry32, by Tommy Ettinger; its 32 bits of state are enough for a test. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const int = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    int,
    pick<T>(from: readonly T[]): T {
      if (from.length === 0) {
        throw new RangeError("there is nothing to pick from");
      }
      return from[int(0, from.length - 1)] as T;
    },
    happens: (probability) => next() < probability,
  };
}
