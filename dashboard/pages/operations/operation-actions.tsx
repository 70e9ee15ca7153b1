import { type Operation, OperationService, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { propose } from "../../action/action.ts";
import { hasRole } from "../../session.ts";

/** The actions that are possible for an operation now; none for viewers. */
export function OperationActions({ operation }: { readonly operation: Operation }) {
  const { state, cancellable, cancelRequested } = operation;
  const needsAttention = state === OperationState.NEEDS_ATTENTION;
  const isRetryable = needsAttention || state === OperationState.FAILED;
  if (!hasRole(Role.OPERATOR) || !(cancellable || isRetryable)) {
    return null;
  }
  return (
    <div class="row operation-actions">
      {isRetryable && (
        <button type="button" onClick={() => retry(operation)}>
          Retry
        </button>
      )}
      {cancellable && !cancelRequested && (
        <button type="button" class="danger" onClick={() => cancel(operation)}>
          {needsAttention ? "Give up" : "Cancel operation"}
        </button>
      )}
      {cancelRequested && state !== OperationState.NEEDS_ATTENTION && (
        <span class="quiet">Cancellation requested.</span>
      )}
    </div>
  );
}

function cancel({ id, kind, resource, state }: Operation): void {
  propose({
    title: `Cancel ${kind} of ${resource}`,
    label: state === OperationState.NEEDS_ATTENTION ? "Give up" : "Cancel the operation",
    question:
      state === OperationState.NEEDS_ATTENTION
        ? "The operation ends in its current state. You have to clean up what is left, and it cannot be retried."
        : "The running step is stopped where that is safe, and finished steps are undone.",
    method: OperationService.method.cancelOperation,
    request: { id },
    isDangerous: true,
    hasPlan: false,
    // It ends with the cancelled operation, which the page shows.
    isFollowed: false,
  });
}

function retry({ id, kind, resource }: Operation): void {
  propose({
    title: `Retry ${kind} of ${resource}`,
    label: "Retry",
    question: "Continues with the step that failed, or with the undo that failed.",
    method: OperationService.method.retryOperation,
    request: { id },
    hasPlan: false,
    isFollowed: false,
  });
}
