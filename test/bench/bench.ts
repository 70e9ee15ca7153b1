/** One of the two that a bench compares: what hostplane does, or the least that does the same without it. */
export interface Side {
  /** Does the work of one round, and returns what it cost for one unit of it, or how much of it there was for the cost. */
  measure(): Promise<number>;
}

/** Both sides, running. */
export interface BenchRun {
  readonly baseline: Side;
  readonly ours: Side;
  stop(): Promise<void>;
}

/** What is to hold of each bench. */
export type Goal =
  /** Hostplane's share of the baseline is not to be exceeded; what is measured is a cost. */
  | { readonly maxRatio: number }
  /** How many times the baseline hostplane is to reach; what is measured is a speed. */
  | { readonly minRatio: number }
  /** How much more than the baseline hostplane may cost, in the bench's unit. */
  | { readonly maxExcess: number }
  /** What hostplane may cost whatever the baseline does, in the bench's unit. */
  | { readonly maxCost: number };

/** A figure that docs/benchmarks.md tells: what hostplane takes, against a baseline that does the same. */
export type Bench = Goal & {
  /** By which `npm run bench` knows it. */
  readonly name: string;
  /** What is done, in the words of the table. */
  readonly what: string;
  readonly baseline: string;
  /** What `Side.measure` returns, e.g. `ms CPU`. */
  readonly unit: string;
  /** How many rounds of each side count, and how many before that do not, since compilers and caches are cold. */
  readonly rounds: number;
  readonly coldRounds: number;
  /** It works on a real system beside Node, such as LVM; `--short` leaves it out. */
  readonly isLab?: boolean;
  /** Why it cannot be measured here, or false. */
  skipReason?(): string | false | Promise<string | false>;
  /** @param nodeFlags for hostplane's process, where it is one of the bench's own, e.g. `--cpu-prof` */
  start(nodeFlags?: readonly string[]): Promise<BenchRun>;
};
