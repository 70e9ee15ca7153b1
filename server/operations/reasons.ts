import { defineReasons } from "../../adapters/host/define-reasons.ts";

/** Reasons of durable operations. */
export const operationReasons = defineReasons({
  OPERATION_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning:
      "There is no operation with this id, it belongs to a service that the caller may not call, or it is no longer stored.",
  },
  OPERATION_IN_PROGRESS: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning:
      "Another operation on the same resource is running; the message names it. Wait for it to end, or cancel it.",
  },
  OPERATION_ENDED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The operation has ended, so there is nothing to cancel.",
  },
  OPERATION_CANCELLED: {
    code: "ABORTED",
    retryable: false,
    meaning: "The operation that the call waited for was cancelled and fully rolled back.",
  },
  OPERATION_NOT_RETRYABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "Only an operation that is FAILED or NEEDS_ATTENTION can be retried, unless it needs secrets that are no longer stored.",
  },
  POINT_OF_NO_RETURN: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The operation has passed its point of no return, so it cannot be cancelled; it runs to completion.",
  },
});
