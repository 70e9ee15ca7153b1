import { type Operation, OperationService, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { Role } from "../../gen/hostplane/v1/user_pb.ts";
import { operationTitle } from "../parts/text/operation-title.ts";
import { hasRole } from "../session.ts";
import { propose } from "./action.ts";

/** Reports whether the user can retry an operation now. */
export function isRetryable({ state }: Operation): boolean {
  return (
    hasRole(Role.OPERATOR) && (state === OperationState.NEEDS_ATTENTION || state === OperationState.FAILED)
  );
}

/** Reports whether the user can cancel an operation now, or give it up. */
export function isCancellable({ cancellable, cancelRequested }: Operation): boolean {
  return hasRole(Role.OPERATOR) && cancellable && !cancelRequested;
}

/** Returns the label of the button that cancels or abandons an operation. */
export function cancelLabel({ state }: Operation): string {
  return state === OperationState.NEEDS_ATTENTION ? "Abandon…" : "Cancel…";
}

/** Asks the user whether to cancel an operation, or to abandon one that needs attention. */
export function proposeCancel(operation: Operation): void {
  const abandons = operation.state === OperationState.NEEDS_ATTENTION;
  propose({
    title: `${abandons ? "Abandon" : "Cancel"}: ${operationTitle(operation)}`,
    label: abandons ? "Abandon" : "Cancel the operation",
    question: abandons
      ? "The operation ends in its current state. You have to clean up what is left, and it cannot be retried."
      : "The running step is stopped where that is safe, and finished steps are undone.",
    method: OperationService.method.cancelOperation,
    request: { id: operation.id },
    isDangerous: true,
    hasPlan: false,
    // It ends as cancelled, which is not a failure here.
    isFollowed: false,
    doneText: `${operationTitle(operation)}: ${abandons ? "abandoned" : "cancellation requested"}`,
  });
}

/** Asks the user whether to retry an operation. */
export function proposeRetry(operation: Operation): void {
  propose({
    title: `Retry: ${operationTitle(operation)}`,
    label: "Retry",
    question:
      operation.state === OperationState.FAILED
        ? "Starts again with the first step."
        : "Continues with the step that failed, or with the undo that failed.",
    method: OperationService.method.retryOperation,
    request: { id: operation.id },
    hasPlan: false,
  });
}
