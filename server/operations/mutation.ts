/** One step of a mutation: one command of a system. */
export interface PlannedStep {
  /** A short name for logs and progress, e.g. `create`. */
  readonly name: string;
  /** The command the step starts, as argv, for whoever wants to see it before or after. */
  readonly command: readonly string[];
}

/** A change of a system, described before any of it is done, so that it can be shown; whoever runs it knows how. */
export interface PlannedMutation {
  /** What changes, e.g. `volumes.create`. */
  readonly kind: string;
  /** The thing that changes; two mutations of one resource never run at once. */
  readonly resource: string;
  /** Identity of the system it is meant for (a VG's UUID), for whoever keeps the description longer than a moment. */
  readonly backend: string;
  /** What a person should know first: what will be there, and what will be lost. */
  readonly plan: { readonly changes: readonly string[]; readonly losses: readonly string[] };
  readonly steps: readonly PlannedStep[];
  /**
   * Index of the step that cannot be taken back once it has succeeded; `steps.length` when all can be. When it
   * or one before it fails, what was done is undone.
   */
  readonly pointOfNoReturn: number;
}

/** A step of a mutation that runs inline, and how to take it back. */
export interface MutationStep extends PlannedStep {
  readonly forward: () => Promise<void>;
  /** Takes the step back; absent where there is nothing to take back. */
  readonly undo?: () => Promise<void>;
}

/** A short change, which `run-inline.ts` runs; a long one is an operation (`operation-kind.ts`). */
export interface Mutation extends PlannedMutation {
  readonly steps: readonly MutationStep[];
}
