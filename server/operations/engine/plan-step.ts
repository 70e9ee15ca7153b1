import type { Operation } from "../operation.ts";
import type { CheckOperationPlan, OperationPlan } from "../operations.ts";
import type { AnyKind } from "./operation-run.ts";

/** Name of the first step of an operation that applies a saved plan. It is stored, and no kind has a step of this name. */
export const planStepName = "checkPlan";

/**
 * Adds the step that checks the plan to a kind. A step of its own, so that an interrupted operation does not check its plan again
 * once it has changed something.
 */
export function withPlanStep(
  kind: AnyKind,
  operation: Operation,
  plan: OperationPlan,
  check: CheckOperationPlan,
): AnyKind {
  const step = {
    name: planStepName,
    title: "checking the plan",
    weight: 0.01,
    isAbortable: true,
    async forward({ signal }: { readonly signal: AbortSignal }) {
      await check(operation, plan, signal);
      return null;
    },
  };
  return { ...kind, steps: [step, ...kind.steps] };
}
