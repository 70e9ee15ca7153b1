/** One step of a mutation: one command of a system. */
export interface PlannedStep {
  /** A short name for logs and progress, e.g. `create`. */
  readonly name: string;
  /** Command that the step runs, as argv, for display. */
  readonly command: readonly string[];
}

/** A property that a plan depends on: the plan no longer holds if it has another value, or is missing. */
export interface PlanFact {
  /** Whose property it is, as in events. */
  readonly resource: string;
  /** In lower camel case, with its unit: `uuid`, `sizeBytes`. */
  readonly name: string;
  readonly value: string;
}

/** What a user should know about a change before it runs. */
export interface PlanText {
  /** What will be created or changed, one sentence each. */
  readonly changes: readonly string[];
  /** What will be lost, one sentence each. */
  readonly losses: readonly string[];
  /** What the rest of the plan follows from, in a fixed order. `backend` is another fact, and is not repeated here. */
  readonly facts: readonly PlanFact[];
}

/** Description of a change to a system, so that it can be shown before it runs. */
export interface PlannedMutation {
  /** Kind of change, e.g. `volumes.create`. */
  readonly kind: string;
  /** Resource that changes; two mutations of one resource never run at the same time. */
  readonly resource: string;
  /** ID of the target system (a VG's UUID), so that a stored description stays tied to it. */
  readonly backend: string;
  readonly plan: PlanText;
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
