import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type PlanResponseSchema,
  type SavedPlanSchema,
  SavedPlanState,
} from "../../../gen/hostplane/v1/plan_pb.ts";
import type { SavedMutation } from "./saved-mutation.ts";
import type { SavedPlan } from "./saved-plan.ts";

/** Converts a plan to its message. */
export function planMessage({
  kind,
  resource,
  changes,
  losses,
  steps,
  pointOfNoReturn,
  facts,
}: SavedMutation): MessageInitShape<typeof PlanResponseSchema> {
  return {
    kind,
    resource,
    changes: [...changes],
    losses: [...losses],
    steps: steps.map(({ name, command }) => ({ name, command: [...command] })),
    pointOfNoReturn,
    facts: [...facts],
  };
}

/**
 * Converts a saved plan to its message, which has no secrets.
 * @param approvable whether the caller may approve it
 */
export function savedPlanMessage(
  plan: SavedPlan,
  approvable: boolean,
): MessageInitShape<typeof SavedPlanSchema> {
  const { id, method, digest, actor } = plan;
  return {
    id,
    method,
    digest,
    actor,
    request: JSON.parse(plan.requestJson) as JsonObject,
    plan: planMessage(plan.mutation),
    createdAt: timestampFromMs(plan.createdAtMs),
    expiresAt: timestampFromMs(plan.expiresAtMs),
    state: numberOfState[plan.state],
    staleBecause: plan.staleBecause,
    // As `Call.noteOperation` has them.
    operationIds: plan.operationId?.split(",") ?? [],
    requiredApprovals: plan.requiredApprovals,
    approvals: plan.approvals.map(({ actor: by, atMs, breakGlassReason }) => ({
      actor: by,
      at: timestampFromMs(atMs),
      breakGlassReason: breakGlassReason ?? "",
    })),
    approvable,
    missingApprovals: plan.missingApprovals,
  };
}

const numberOfState: Readonly<Record<SavedPlan["state"], SavedPlanState>> = {
  open: SavedPlanState.OPEN,
  applying: SavedPlanState.APPLYING,
  applied: SavedPlanState.APPLIED,
  stale: SavedPlanState.STALE,
};
