import type { Span } from "./span.ts";

/** Values of the last ticks, one for each tick; NaN is unknown. */
export interface RingSeries {
  /** Sets the value of a tick after the last one. The ticks in between become unknown. */
  write(tick: number, value: number): void;
  /** Returns NaN for a tick that was not written, or is too old. */
  at(tick: number): number;
  /** Returns the runs of equal known values from `from` to before `to`, in ascending order. */
  spans(from: number, to: number): Generator<Span>;
  /** The last written tick; -1 if there is none. */
  lastTick(): number;
  /** Bytes of the arrays. */
  bytes(): number;
}

const blockTicks = 256;

/**
 * Creates a ring. Its memory is allocated block by block, when values are written there.
 * @param ticks number of ticks that are kept
 * @param makeRoom called with the bytes of a new block; if it returns false, the value is not kept
 */
export function createRingSeries(ticks: number, makeRoom: (bytes: number) => boolean): RingSeries {
  const blocks = Array.from(
    { length: Math.ceil(ticks / blockTicks) },
    (): Float64Array | undefined => undefined,
  );
  let last = -1;

  function set(tick: number, value: number): void {
    const position = tick % ticks;
    const index = Math.floor(position / blockTicks);
    let block = blocks[index];
    if (block === undefined) {
      const length = Math.min(blockTicks, ticks - index * blockTicks);
      if (Number.isNaN(value) || !makeRoom(length * Float64Array.BYTES_PER_ELEMENT)) {
        return;
      }
      block = new Float64Array(length).fill(Number.NaN);
      blocks[index] = block;
    }
    block[position % blockTicks] = value;
  }

  function at(tick: number): number {
    if (tick > last || tick <= last - ticks || tick < 0) {
      return Number.NaN;
    }
    const position = tick % ticks;
    return blocks[Math.floor(position / blockTicks)]?.[position % blockTicks] ?? Number.NaN;
  }

  return {
    write(tick, value) {
      for (let skipped = Math.max(last + 1, tick - ticks + 1); skipped < tick; skipped++) {
        set(skipped, Number.NaN);
      }
      set(tick, value);
      last = tick;
    },
    at,
    *spans(from, to) {
      const end = Math.min(to, last + 1);
      let start = Math.max(from, last - ticks + 1, 0);
      while (start < end) {
        const value = at(start);
        let next = start + 1;
        while (next < end && Object.is(at(next), value)) {
          next += 1;
        }
        if (!Number.isNaN(value)) {
          yield { from: start, to: next, value };
        }
        start = next;
      }
    },
    lastTick: () => last,
    bytes: () => blocks.reduce((sum, block) => sum + (block?.byteLength ?? 0), 0),
  };
}
