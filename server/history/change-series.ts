/** What a log knows about each of its series, in chunks of typed arrays: 24 bytes a series. */
export interface ChangeSeries {
  /** Adds a series without changes. */
  add(base: number): number;
  remove(series: number): void;
  /** Numbers of its first and last change in the log; undefined if there is none. */
  first(series: number): number | undefined;
  last(series: number): number | undefined;
  /** Value before its first change in the log; NaN if it is unknown. */
  base(series: number): number;
  append(series: number, seq: number): void;
  /** Makes the value of the first change the base. @param next number of the change after it */
  forgetFirst(series: number, value: number, next: number | undefined): void;
  bytes(): number;
  /** Returns how many bytes adding so many series would allocate. */
  bytesOf(count: number): number;
}

interface Chunk {
  readonly base: Float64Array;
  /** Numbers of changes exceed 32 bits in the life of a gateway. -1: none. */
  readonly first: Float64Array;
  readonly last: Float64Array;
}

const chunkSeries = 1024;
const chunkBytes = 3 * chunkSeries * Float64Array.BYTES_PER_ELEMENT;

/** Starts without series, and allocates nothing before the first one. */
export function createChangeSeries(): ChangeSeries {
  const chunks: Chunk[] = [];
  const free: number[] = [];

  function chunkOf(series: number): Chunk {
    return chunks[Math.floor(series / chunkSeries)] as Chunk;
  }

  function numberIn(column: Float64Array, series: number): number | undefined {
    const seq = column[series % chunkSeries] ?? -1;
    return seq === -1 ? undefined : seq;
  }

  function addChunk(): void {
    const start = chunks.length * chunkSeries;
    chunks.push({
      base: new Float64Array(chunkSeries),
      first: new Float64Array(chunkSeries),
      last: new Float64Array(chunkSeries),
    });
    for (let index = chunkSeries - 1; index >= 0; index--) {
      free.push(start + index);
    }
  }

  return {
    add(value) {
      if (free.length === 0) {
        addChunk();
      }
      const series = free.pop() as number;
      const { base, first, last } = chunkOf(series);
      const index = series % chunkSeries;
      base[index] = value;
      first[index] = -1;
      last[index] = -1;
      return series;
    },
    remove(series) {
      free.push(series);
    },
    first: (series) => numberIn(chunkOf(series).first, series),
    last: (series) => numberIn(chunkOf(series).last, series),
    base: (series) => chunkOf(series).base[series % chunkSeries] ?? Number.NaN,
    append(series, seq) {
      const { first, last } = chunkOf(series);
      const index = series % chunkSeries;
      if (last[index] === -1) {
        first[index] = seq;
      }
      last[index] = seq;
    },
    forgetFirst(series, value, next) {
      const { base, first, last } = chunkOf(series);
      const index = series % chunkSeries;
      base[index] = value;
      first[index] = next ?? -1;
      if (next === undefined) {
        last[index] = -1;
      }
    },
    // The list of free numbers is as long as the chunks at most.
    bytes: () => chunks.length * (chunkBytes + chunkSeries * Float64Array.BYTES_PER_ELEMENT),
    bytesOf: (count) =>
      Math.ceil(Math.max(0, count - free.length) / chunkSeries) *
      (chunkBytes + chunkSeries * Float64Array.BYTES_PER_ELEMENT),
  };
}
