import type { PlannedMutation } from "../../operations/mutation.ts";

/** What a call may change at most: what a saved plan says, or what it was let through with. */
export interface AppliedPlan {
  /** The saved plan; undefined if there is none. */
  readonly id: string | undefined;
  /** Who has approved the plan, as actors. */
  readonly approvedBy: readonly string[];
  /**
   * Compares a change with the plan. Called when all checks of the change have passed, before its first step.
   * @throws InfraError PLAN_STALE, which names what differs, and APPROVAL_REQUIRED
   */
  assertSame(mutation: PlannedMutation): void;
}
