import type { PlannedMutation } from "../../operations/mutation.ts";
import type { CheckOperationPlan } from "../../operations/operations.ts";
import type { PlannerOf } from "./plan-call.ts";
import { planDifferences } from "./plan-differences.ts";
import { isRefusal, planStale } from "./plan-stale.ts";
import { savedMutationFrom } from "./saved-mutation.ts";
import type { SavedPlans } from "./saved-plans.ts";

export interface CheckOperationPlanOptions {
  readonly savedPlans: Pick<SavedPlans, "requestOf">;
  readonly plannerOf: PlannerOf;
}

/** Creates the check in the first step of an operation that applies a saved plan: its request is planned again. */
export function createCheckOperationPlan({
  savedPlans,
  plannerOf,
}: CheckOperationPlanOptions): CheckOperationPlan {
  return async (operation, { id, mutation }, signal) => {
    const saved = await savedPlans.requestOf(id);
    if (saved === undefined) {
      throw planStale(id, "it was deleted");
    }
    const { method, request, lvmd } = saved;
    const planner = plannerOf(method);
    if (planner === undefined) {
      throw planStale(id, `this version of the gateway cannot plan ${saved.method.name}`);
    }
    let now: PlannedMutation;
    try {
      now = await planner(request, { signal, peer: { lvmd }, operation });
    } catch (error) {
      throw isRefusal(error) ? planStale(id, error.message, error) : error;
    }
    const differences = planDifferences(savedMutationFrom(mutation), savedMutationFrom(now));
    if (differences !== "") {
      throw planStale(id, differences);
    }
  };
}
