/** One of the two sides that a benchmark compares: hostplane, or the cheapest alternative that does the same. */
export interface Side {
  /** Does the work of one round. Returns its cost per unit of work, or the work per unit of cost. */
  measure(): Promise<number>;
}

/** Both sides, running. */
export interface BenchRun {
  readonly baseline: Side;
  readonly ours: Side;
  stop(): Promise<void>;
}

/** The goal of a benchmark. */
export type Goal =
  /** Maximum of hostplane's cost divided by the baseline's. */
  | { readonly maxRatio: number }
  /** Minimum of hostplane's speed divided by the baseline's. */
  | { readonly minRatio: number }
  /** Maximum of hostplane's cost minus the baseline's, in the benchmark's unit. */
  | { readonly maxExcess: number }
  /** Maximum of hostplane's cost, whatever the baseline's is, in the benchmark's unit. */
  | { readonly maxCost: number };

/** A figure in docs/reference/benchmarks.md: hostplane's cost or speed against a baseline that does the same. */
export type Bench = Goal & {
  /** Its name for `npm run bench`. */
  readonly name: string;
  /** Description of the work, as in the table. */
  readonly what: string;
  readonly baseline: string;
  /** Unit of `Side.measure`, e.g. `ms CPU`. */
  readonly unit: string;
  /** Number of rounds per side that count, and of warm-up rounds before them, in which compilers and caches are cold. */
  readonly rounds: number;
  readonly coldRounds: number;
  /** Whether it needs a real system besides Node, such as LVM; `--short` leaves it out. */
  readonly isLab?: boolean;
  /** Returns why it cannot run here, or false. */
  skipReason?(): string | false | Promise<string | false>;
  /** @param nodeFlags for hostplane's process, if the benchmark starts one, e.g. `--cpu-prof` */
  start(nodeFlags?: readonly string[]): Promise<BenchRun>;
};
