import { planDifferences } from "../../../server/domains/plan/plan-differences.ts";
import { planStale } from "../../../server/domains/plan/plan-stale.ts";
import { savedMutationFrom } from "../../../server/domains/plan/saved-mutation.ts";
import type { PlannedMutation } from "../../../server/operations/mutation.ts";
import type { AppliedPlan } from "../../../server/rpc/call/applied-plan.ts";

/** Returns what a call may change that applies this plan. */
export function appliedPlanOf(mutation: PlannedMutation): AppliedPlan {
  const saved = savedMutationFrom(mutation);
  return {
    id: "plan-1",
    approvedBy: [],
    assertSame(now) {
      const differences = planDifferences(saved, savedMutationFrom(now));
      if (differences !== "") {
        throw planStale("plan-1", differences);
      }
    },
  };
}
