import type { PlannedMutation } from "../../operations/mutation.ts";

/** The saved plan that a call applies. */
export interface AppliedPlan {
  readonly id: string;
  /**
   * Compares a change with the plan. Called when all checks of the change have passed, before its first step.
   * @throws InfraError PLAN_STALE, which names what differs
   */
  assertSame(mutation: PlannedMutation): void;
}
