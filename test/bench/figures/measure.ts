import type { Bench, Side } from "../bench.ts";
import { judgeOf } from "./goal.ts";

/** The result of a benchmark. */
export interface Result {
  readonly bench: Bench;
  /** Medians of all rounds, in the benchmark's unit. */
  readonly baseline: number;
  readonly ours: number;
  /** Median of the rounds' figures; the smallest and the largest show how reliable it is. */
  readonly figure: number;
  readonly minFigure: number;
  readonly maxFigure: number;
}

/**
 * Runs a benchmark. Rounds of both sides alternate, so that other load on the machine affects both.
 * @param nodeFlags for hostplane's process
 */
export async function measure(bench: Bench, nodeFlags: readonly string[] = []): Promise<Result> {
  const { baseline, ours, stop } = await bench.start(nodeFlags);
  try {
    const pairs: { readonly baseline: number; readonly ours: number }[] = [];
    for (let round = -bench.coldRounds; round < bench.rounds; round += 1) {
      const pair = await measurePair(baseline, ours, round % 2 === 0);
      if (round >= 0) {
        pairs.push(pair);
      }
    }
    return resultOf(bench, pairs);
  } finally {
    await stop();
  }
}

/** @param pairs rounds that count, at least one */
export function resultOf(
  bench: Bench,
  pairs: readonly { readonly baseline: number; readonly ours: number }[],
): Result {
  const { figureOf } = judgeOf(bench);
  const figures = pairs.map((pair) => figureOf(pair.baseline, pair.ours));
  return {
    bench,
    baseline: median(pairs.map((pair) => pair.baseline)),
    ours: median(pairs.map((pair) => pair.ours)),
    figure: median(figures),
    minFigure: Math.min(...figures),
    maxFigure: Math.max(...figures),
  };
}

/** The sides take turns at going first. */
async function measurePair(baseline: Side, ours: Side, isBaselineFirst: boolean) {
  if (isBaselineFirst) {
    const cost = await baseline.measure();
    return { baseline: cost, ours: await ours.measure() };
  }
  const cost = await ours.measure();
  return { baseline: await baseline.measure(), ours: cost };
}

/** @param values at least one */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const below = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  const above = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  return (below + above) / 2;
}
