import type { Reason } from "../../adapters/host/define-reasons.ts";
import { hostReasons } from "../../adapters/host/reasons.ts";
import type { Operation } from "./operation.ts";
import { operationReasons } from "./reasons.ts";

/** Returns the reason for a call that waited for an operation which did not complete: that of its failure. */
export function reasonOfEnd({ state, failure }: Pick<Operation, "state" | "failure">): Reason {
  if (state === "cancelled") {
    return operationReasons.OPERATION_CANCELLED;
  }
  return failure === undefined
    ? hostReasons.INTERNAL
    : { id: failure.reason, code: failure.code, retryable: failure.retryable ?? false };
}
