/** One step of a mutation: one command of a system. */
export interface PlannedStep {
  /** A short name for logs and progress, e.g. `create`. */
  readonly name: string;
  /** Command that the step runs, as argv, for display. */
  readonly command: readonly string[];
}

/** Description of a change to a system, so that it can be shown before it runs. */
export interface PlannedMutation {
  /** Kind of change, e.g. `volumes.create`. */
  readonly kind: string;
  /** Resource that changes; two mutations of one resource never run at the same time. */
  readonly resource: string;
  /** ID of the target system (a VG's UUID), so that a stored description stays tied to it. */
  readonly backend: string;
  /** What a user should know first: what will be created or changed, and what will be lost. */
  readonly plan: { readonly changes: readonly string[]; readonly losses: readonly string[] };
  readonly steps: readonly PlannedStep[];
  /**
   * Index of the step that cannot be undone once it has succeeded; `steps.length` when all can be. If it or an earlier step
   * fails, the completed steps are undone.
   */
  readonly pointOfNoReturn: number;
}

/** A step of a mutation that runs inline, and its undo. */
export interface MutationStep extends PlannedStep {
  readonly forward: () => Promise<void>;
  /** Undoes the step; absent where there is nothing to undo. */
  readonly undo?: () => Promise<void>;
}

/** A short change, run by `run-inline.ts`. A long one is an operation (`operation-kind.ts`). */
export interface Mutation extends PlannedMutation {
  readonly steps: readonly MutationStep[];
}
