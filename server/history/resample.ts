import type { Span } from "./span.ts";

/** Intervals of equal length: interval i has the ticks from `fromTick + i * ticks` on. */
export interface Grid {
  readonly fromTick: number;
  readonly ticks: number;
  readonly count: number;
}

/** Runs of intervals with equal values, ascending; intervals in no run are unknown. */
export interface Runs {
  readonly starts: number[];
  readonly lengths: number[];
  readonly values: number[];
}

/**
 * Divides the ticks from `fromTick` to before `toTick` into at most `points` intervals. They begin at multiples of their length,
 * so that a range that moves with time keeps its intervals. A single interval is the range itself.
 */
export function gridOf(fromTick: number, toTick: number, points: number): Grid {
  if (points === 1) {
    return { fromTick, ticks: toTick - fromTick, count: 1 };
  }
  // One interval less, since the first one may begin before the range.
  const ticks = Math.ceil((toTick - fromTick) / (points - 1));
  const start = Math.floor(fromTick / ticks) * ticks;
  return { fromTick: start, ticks, count: Math.ceil((toTick - start) / ticks) };
}

/**
 * Describes each interval by one value: the last known one, or the mean of the known ones.
 * @param spans in ascending order
 */
export function resample(spans: Iterable<Span>, { fromTick, ticks, count }: Grid, isMean: boolean): Runs {
  const values = new Float64Array(count).fill(Number.NaN);
  const weights = new Float64Array(isMean ? count : 0);
  for (const { from, to, value } of spans) {
    const first = Math.max(0, Math.floor((from - fromTick) / ticks));
    const last = Math.min(count - 1, Math.floor((to - 1 - fromTick) / ticks));
    for (let index = first; index <= last; index++) {
      if (isMean) {
        const start = fromTick + index * ticks;
        const weight = Math.min(to, start + ticks) - Math.max(from, start);
        const before = weights[index] ?? 0;
        const mean = before === 0 ? 0 : (values[index] ?? 0);
        values[index] = mean + ((value - mean) * weight) / (before + weight);
        weights[index] = before + weight;
      } else {
        values[index] = value;
      }
    }
  }
  return runsOf(values);
}

function runsOf(values: Float64Array): Runs {
  const runs: Runs = { starts: [], lengths: [], values: [] };
  for (let start = 0; start < values.length; ) {
    const value = values[start] ?? Number.NaN;
    let end = start + 1;
    while (end < values.length && Object.is(values[end], value)) {
      end += 1;
    }
    if (!Number.isNaN(value)) {
      runs.starts.push(start);
      runs.lengths.push(end - start);
      runs.values.push(value);
    }
    start = end;
  }
  return runs;
}
