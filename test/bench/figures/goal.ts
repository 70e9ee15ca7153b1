import type { Bench } from "../bench.ts";

/** Computes the figure of a round for a benchmark's goal, and decides whether the goal is met. */
export interface Judge {
  figureOf(baseline: number, ours: number): number;
  isMet(figure: number): boolean;
  /** Formats the figure as in the table. */
  say(figure: number): string;
  /** e.g. `at most 1.25` */
  readonly goal: string;
}

export function judgeOf(bench: Bench): Judge {
  const { unit } = bench;
  const ratioOf = (baseline: number, ours: number) => ours / baseline;
  if ("maxRatio" in bench) {
    const { maxRatio } = bench;
    return {
      figureOf: ratioOf,
      isMet: (figure) => figure <= maxRatio,
      say: numberText,
      goal: `at most ${numberText(maxRatio)}`,
    };
  }
  if ("minRatio" in bench) {
    const { minRatio } = bench;
    return {
      figureOf: ratioOf,
      isMet: (figure) => figure >= minRatio,
      say: numberText,
      goal: `at least ${numberText(minRatio)}`,
    };
  }
  if ("maxExcess" in bench) {
    const { maxExcess } = bench;
    const say = (figure: number) => `${figure < 0 ? "-" : "+"}${numberText(Math.abs(figure))} ${unit}`;
    return {
      figureOf: (baseline, ours) => ours - baseline,
      isMet: (figure) => figure <= maxExcess,
      say,
      goal: `at most ${say(maxExcess)}`,
    };
  }
  const { maxCost } = bench;
  const say = (figure: number) => `${numberText(figure)} ${unit}`;
  return {
    figureOf: (_baseline, ours) => ours,
    isMet: (figure) => figure <= maxCost,
    say,
    goal: `at most ${say(maxCost)}`,
  };
}

/** Formats a number with its significant digits. */
export function numberText(value: number): string {
  if (value >= 1_000) {
    return Math.round(value).toLocaleString("en");
  }
  return value.toFixed(value < 0.1 ? 3 : 2);
}
