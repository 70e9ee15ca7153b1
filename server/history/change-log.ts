import { createChangeSeries } from "./change-series.ts";
import type { Span } from "./span.ts";

/**
 * The changes of many series, in the order of time, in blocks of typed arrays. When the oldest block is dropped, each series keeps
 * its value at that time.
 */
export interface ChangeLog {
  /** Adds a series. @param base its value at the horizon; NaN if it is unknown */
  addSeries(base?: number): number;
  /** Removes a series. Its number is used again. */
  removeSeries(series: number): void;
  /** Returns how many bytes `addSeries` would allocate for so many series. */
  bytesOfSeries(count: number): number;
  /** Appends a change, unless the series has this value. Ticks must not decrease. Returns whether it did. */
  set(series: number, tick: number, value: number): boolean;
  /** Returns the last value; NaN if it is unknown. */
  lastValue(series: number): number;
  /** Reports whether the series has been unknown since the oldest change that is kept. */
  isForgotten(series: number): boolean;
  /** Returns the known values from `from` to before `to`, in ascending order. */
  spans(series: number, from: number, to: number): Generator<Span>;
  /** Drops the oldest block. Returns false if there is only the block that is being written. */
  dropOldest(): boolean;
  /** Drops blocks whose changes were all before a tick. Returns whether it dropped one. */
  dropBefore(tick: number): boolean;
  /** Allocated bytes. */
  bytes(): number;
  /** Changes before this tick were dropped; 0 if none were. */
  horizonTick(): number;
  /** Sets the horizon of a log without changes. */
  setHorizon(tick: number): void;
  /** Value of a series at the horizon. */
  baseOf(series: number): number;
  /** Copies the changes, for a file. */
  changes(): readonly ChangeBlock[];
}

/** Changes in parallel arrays. */
export interface ChangeBlock {
  /** `noSeries` for a change of a removed series. */
  readonly series: Uint32Array;
  readonly ticks: Uint32Array;
  readonly values: Float64Array;
}

/** Number that stands for no series. */
export const noSeries = 0xffff_ffff;

interface Block extends ChangeBlock {
  /** Distance to the next change of the same series; 0 if there is none. */
  readonly distances: Uint32Array;
}

const blockChanges = 4096;
const blockBytes = blockChanges * (3 * Uint32Array.BYTES_PER_ELEMENT + Float64Array.BYTES_PER_ELEMENT);

/**
 * Creates an empty log.
 * @param hasRoom called with the bytes of a new block; if it returns false, the oldest block is used again
 */
export function createChangeLog(hasRoom: (bytes: number) => boolean): ChangeLog {
  const table = createChangeSeries();
  const blocks: Block[] = [];
  /** Number of the first change in `blocks`, and of the next one. */
  let firstSeq = 0;
  let nextSeq = 0;
  let horizonTick = 0;

  function blockOf(seq: number): Block {
    return blocks[Math.floor((seq - firstSeq) / blockChanges)] as Block;
  }

  function indexOf(seq: number): number {
    return (seq - firstSeq) % blockChanges;
  }

  function lastValue(series: number): number {
    const last = table.last(series);
    return last === undefined ? table.base(series) : (blockOf(last).values[indexOf(last)] ?? Number.NaN);
  }

  function dropFirst(): Block | undefined {
    const block = blocks[0];
    if (block === undefined) {
      return undefined;
    }
    const count = Math.min(blockChanges, nextSeq - firstSeq);
    for (let index = 0; index < count; index++) {
      const series = block.series[index] ?? noSeries;
      if (series !== noSeries) {
        const distance = block.distances[index] ?? 0;
        const next = distance === 0 ? undefined : firstSeq + index + distance;
        table.forgetFirst(series, block.values[index] ?? Number.NaN, next);
      }
    }
    horizonTick = block.ticks[count - 1] ?? horizonTick;
    firstSeq += count;
    return blocks.shift();
  }

  /** Returns the block of the next change; undefined if there is no room for the only block. */
  function blockToWrite(): Block | undefined {
    if (nextSeq - firstSeq < blocks.length * blockChanges) {
      return blocks.at(-1);
    }
    const block = hasRoom(blockBytes) ? newBlock() : dropFirst();
    if (block !== undefined) {
      blocks.push(block);
    }
    return block;
  }

  return {
    addSeries: (base = Number.NaN) => table.add(base),
    bytesOfSeries: table.bytesOf,
    removeSeries(series) {
      let seq = table.first(series);
      while (seq !== undefined) {
        const block = blockOf(seq);
        const index = indexOf(seq);
        block.series[index] = noSeries;
        const distance = block.distances[index] ?? 0;
        seq = distance === 0 ? undefined : seq + distance;
      }
      table.remove(series);
    },
    set(series, tick, value) {
      const before = lastValue(series);
      if (value === before || (Number.isNaN(value) && Number.isNaN(before))) {
        return false;
      }
      const block = blockToWrite();
      if (block === undefined) {
        return false;
      }
      const index = indexOf(nextSeq);
      block.series[index] = series;
      block.ticks[index] = tick;
      block.values[index] = value;
      block.distances[index] = 0;
      const last = table.last(series);
      if (last !== undefined) {
        blockOf(last).distances[indexOf(last)] = nextSeq - last;
      }
      table.append(series, nextSeq);
      nextSeq += 1;
      return true;
    },
    lastValue,
    isForgotten: (series) => table.first(series) === undefined && Number.isNaN(table.base(series)),
    *spans(series, from, to) {
      let start = Math.max(from, horizonTick);
      let value = table.base(series);
      let seq = table.first(series);
      while (seq !== undefined && start < to) {
        const block = blockOf(seq);
        const index = indexOf(seq);
        const tick = Math.min(block.ticks[index] ?? to, to);
        if (tick > start && !Number.isNaN(value)) {
          yield { from: start, to: tick, value };
        }
        start = Math.max(start, tick);
        value = block.values[index] ?? Number.NaN;
        const distance = block.distances[index] ?? 0;
        seq = distance === 0 ? undefined : seq + distance;
      }
      if (start < to && !Number.isNaN(value)) {
        yield { from: start, to, value };
      }
    },
    dropOldest() {
      if (blocks.length < 2) {
        return false;
      }
      dropFirst();
      return true;
    },
    dropBefore(tick) {
      const before = firstSeq;
      while (blocks.length > 1 && (blocks[0]?.ticks[blockChanges - 1] ?? tick) < tick) {
        dropFirst();
      }
      return firstSeq !== before;
    },
    bytes: () => blocks.length * blockBytes + table.bytes(),
    horizonTick: () => horizonTick,
    setHorizon(tick) {
      horizonTick = tick;
    },
    baseOf: table.base,
    changes: () =>
      blocks.map((block, at) => {
        const count = Math.min(blockChanges, nextSeq - firstSeq - at * blockChanges);
        return {
          series: block.series.slice(0, count),
          ticks: block.ticks.slice(0, count),
          values: block.values.slice(0, count),
        };
      }),
  };
}

function newBlock(): Block {
  return {
    series: new Uint32Array(blockChanges),
    ticks: new Uint32Array(blockChanges),
    values: new Float64Array(blockChanges),
    distances: new Uint32Array(blockChanges),
  };
}
