/** Pseudorandom choices. The same seed gives the same choices. */
export interface Random {
  /** Returns a number from 0 to 1, without 1. */
  next(): number;
  /** Returns an integer from `low` to `high`, both included. */
  integer(low: number, high: number): number;
  /** Returns one of the items. The list must not be empty. */
  pick<T>(items: readonly T[]): T;
  /** Returns other choices, which depend on the seed and the name only, not on earlier choices. */
  fork(name: string): Random;
}

/** Creates choices from a seed. The generator is mulberry32, which has 32 bits of state: enough for examples. */
export function createRandom(seed: number | string): Random {
  let state = hashOf(String(seed));

  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  return {
    next,
    integer: (low, high) => low + Math.floor(next() * (high - low + 1)),
    pick: (items) => items[Math.floor(next() * items.length)] as (typeof items)[number],
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return hash >>> 0;
}
