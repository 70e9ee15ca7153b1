import { planTopic } from "../../../events/event-record.ts";
import type { NewEvent } from "../../../events/store/events.ts";
import type { SavedMutation } from "../saved-mutation.ts";
import { missingApprovals, type PlanRecord } from "./plan-record.ts";

/** What happened to a plan that needs approvals. */
export type PlanEventType = "proposed" | "approved" | "glassBroken" | "applied" | "stale" | "deleted";

/** Details of an event, as in hostplane.v1.PlanEvent. */
export interface PlanEventDetail {
  readonly approvedBy?: string;
  readonly reason?: string;
}

/** Creates the event of a plan, as it is afterwards; none for a plan that needs no approval. */
export function planEvents(
  type: PlanEventType,
  record: PlanRecord,
  detail: PlanEventDetail = {},
): readonly NewEvent[] {
  const { id, method, owner, actor, operation_id, required_approvals } = record;
  if (required_approvals === 0) {
    return [];
  }
  return [
    {
      topic: planTopic,
      type: `plan.${type}`,
      resource: `plans/${id}`,
      host: "",
      // A change of several resources begins several operations.
      operationId: operation_id === null || operation_id.includes(",") ? undefined : operation_id,
      services: [method.slice(0, method.indexOf("/"))],
      // The JSON of a hostplane.v1.Event; the store's thread does not load the contract.
      payload: {
        plan: {
          id,
          method,
          resource: (JSON.parse(record.plan_json) as SavedMutation).resource,
          proposedBy: actor,
          requiredApprovals: required_approvals,
          missingApprovals: missingApprovals(record),
          ...detail,
        },
        planOwner: owner,
      },
    },
  ];
}
