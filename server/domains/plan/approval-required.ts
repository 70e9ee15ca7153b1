import { InfraError } from "../../../adapters/host/infra-error.ts";
import { planResource } from "./plan-stale.ts";
import { planReasons } from "./reasons.ts";
import type { SavedPlan } from "./saved-plan.ts";

/** Returns the error of a call whose plan lacks approvals. Nothing was changed. */
export function approvalRequired(
  plan: Pick<SavedPlan, "id" | "method" | "requiredApprovals" | "missingApprovals">,
): InfraError {
  const { id, method, requiredApprovals, missingApprovals: missing } = plan;
  const others = requiredApprovals === 1 ? "another person" : `${requiredApprovals} other people`;
  const words = `${method} needs the approval of ${others}, and ${missing} ${missing === 1 ? "is" : "are"} missing: have the plan ${id} approved (\`hostplane approve ${id}\`), then apply it, or repeat the call`;
  return new InfraError(planReasons.APPROVAL_REQUIRED, words, {
    resource: planResource(id),
    effect: "none",
    metadata: { plan: id, missingApprovals: String(missing) },
  });
}
