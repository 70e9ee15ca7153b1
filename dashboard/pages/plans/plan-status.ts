import { type SavedPlan, SavedPlanState } from "../../../gen/hostplane/v1/plan_pb.ts";
import type { StatusKind } from "../../parts/status.tsx";

/** What has become of a plan, for people. */
export function planStatus(plan: SavedPlan): { readonly kind: StatusKind; readonly text: string } {
  const { state, approvable, requiredApprovals, missingApprovals } = plan;
  switch (state) {
    case SavedPlanState.APPLYING:
      return { kind: "running", text: "being applied" };
    case SavedPlanState.APPLIED:
      return { kind: "ok", text: "applied" };
    case SavedPlanState.STALE:
      return { kind: "warn", text: "stale" };
    default:
      if (missingApprovals > 0) {
        return { kind: "approval", text: approvable ? "waits for your approval" : "waits for approval" };
      }
      return { kind: "change", text: requiredApprovals > 0 ? "approved" : "open" };
  }
}

/** What a plan changes, in one line. */
export function planTitle({ plan, method }: SavedPlan): string {
  return plan?.changes[0] ?? method;
}

/** "1 of 2"; empty for a plan that needs no approval. */
export function approvalsText({ requiredApprovals, missingApprovals }: SavedPlan): string {
  return requiredApprovals === 0 ? "" : `${requiredApprovals - missingApprovals} of ${requiredApprovals}`;
}
