/** One of the two that a bench compares: what hostplane does, or the least that Node does it with. */
export interface Side {
  /** Does the work of one round, and returns what it cost for one unit of it. */
  measure(): Promise<number>;
}

/** Both sides, running. */
export interface BenchRun {
  readonly baseline: Side;
  readonly ours: Side;
  stop(): Promise<void>;
}

/** A figure that docs/benchmarks.md tells: how many times the cost of a baseline hostplane takes for the same. */
export interface Bench {
  /** By which `npm run bench` knows it. */
  readonly name: string;
  /** What is done, in the words of the table. */
  readonly what: string;
  readonly baseline: string;
  /** What `Side.measure` returns, e.g. `ms CPU`. */
  readonly unit: string;
  /** The ratio that is not to be exceeded. */
  readonly maxRatio: number;
  /** How many rounds of each side count, and how many before that do not, since compilers and caches are cold. */
  readonly rounds: number;
  readonly coldRounds: number;
  /** Why it cannot be measured here, or false. */
  skipReason?(): string | false;
  start(): Promise<BenchRun>;
}
