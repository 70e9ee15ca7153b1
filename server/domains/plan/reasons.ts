import { defineReasons } from "../../../adapters/host/define-reasons.ts";

/** Reasons of plans. */
export const planReasons = defineReasons({
  NOT_PLANNABLE: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The method does not support dry runs: it changes nothing, or its changes cannot be predicted.",
  },
  NOT_SAVABLE: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning:
      "A plan of this method cannot be saved, because the response of the method contains secrets, which are not stored.",
  },
  TOO_MANY_PLANS: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning:
      "The limit of saved plans is reached; the message names it. Delete plans, or wait until they expire.",
  },
  PLAN_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no saved plan with this id, it has expired, or it belongs to another caller.",
  },
  PLAN_STALE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "What the plan is based on has changed; the message names it. Nothing was changed, and the plan can no longer be applied.",
  },
  PLAN_USED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The plan is being applied or was applied, and its result is no longer known; GetPlan shows its operation.",
  },
  APPROVAL_REQUIRED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "A rule of the configuration requires that other people approve this change. The metadata has the id of its plan (`plan`) and the number of missing approvals (`missingApprovals`). Once they are given, apply the plan, or repeat the call.",
  },
  APPROVAL_NOT_ALLOWED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning:
      "The caller may not approve this plan: it proposed the plan itself, or is not a user. The glass can be broken only at the admin socket.",
  },
  APPROVAL_NOT_NEEDED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The plan needs no approval.",
  },
});
