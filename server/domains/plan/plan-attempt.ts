import type { InfraError } from "../../../adapters/host/infra-error.ts";
import type { AppliedPlan } from "../../rpc/call/applied-plan.ts";
import { infraErrorFrom } from "../../rpc/errors/connect-error.ts";
import { planDifferences } from "./plan-differences.ts";
import { isRefusal, planStale } from "./plan-stale.ts";
import { savedMutationFrom } from "./saved-mutation.ts";
import type { SavedPlan } from "./saved-plan.ts";
import type { SavedPlans } from "./saved-plans.ts";

/** One run of the call of a saved plan. */
export interface PlanAttempt {
  /** What the call may change. */
  readonly appliedPlan: AppliedPlan;
  /**
   * Records that the call has succeeded. Returns the plan.
   * @throws InfraError PLAN_STALE if the call has changed nothing
   */
  succeed(operationId: string | undefined): Promise<SavedPlan>;
  /** Records the outcome of the plan after its call has failed. Returns the error to report. */
  fail(thrown: unknown, operationId: string | undefined): Promise<InfraError>;
}

/** Begins a run of a plan that `SavedPlans.begin` has returned. */
export function createPlanAttempt(plan: SavedPlan, savedPlans: Pick<SavedPlans, "end">): PlanAttempt {
  const { id } = plan;
  /** Whether the call was compared with the plan, and does the same. */
  let isSame = false;
  /** What differs; empty before the comparison. */
  let differences = "";

  async function stale(because: string, cause?: unknown): Promise<InfraError> {
    await savedPlans.end(id, { state: "stale", because });
    return planStale(id, because, cause);
  }

  return {
    appliedPlan: {
      id,
      approvedBy: plan.approvals.map(({ actor }) => actor),
      assertSame(mutation) {
        differences = planDifferences(plan.mutation, savedMutationFrom(mutation));
        if (differences !== "") {
          throw planStale(id, differences);
        }
        isSame = true;
      },
    },
    async succeed(operationId) {
      if (!isSame) {
        throw await stale("the call would change nothing");
      }
      return (await savedPlans.end(id, { state: "applied", operationId })) ?? plan;
    },
    async fail(thrown, operationId) {
      const error = infraErrorFrom(thrown);
      if (differences !== "") {
        return stale(differences);
      }
      const effect = error.effect ?? (operationId === undefined ? "none" : "possible");
      // Also after the comparison: the system itself may have moved before the first command.
      if (effect === "none" && isRefusal(error)) {
        return stale(error.message, error);
      }
      await savedPlans.end(id, effect === "none" ? { state: "open" } : { state: "applied", operationId });
      return error.withEffect(effect);
    },
  };
}
