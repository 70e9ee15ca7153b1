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
        <span class="quiet">It was asked to stop.</span>
      )}
    </div>
  );
}

function cancel({ id, kind, resource, state }: Operation): void {
  propose({
    title: `Cancel ${kind} of ${resource}`,
    label: state === OperationState.NEEDS_ATTENTION ? "Give it up" : "Cancel the operation",
    question:
      state === OperationState.NEEDS_ATTENTION
        ? "It ends as it is: what is left of it is yours to clear up, and it cannot be retried afterwards."
        : "The running step is stopped where that is safe, and what was done is undone.",
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
    question: "It goes on from the step that failed, or with the undoing that did.",
    method: OperationService.method.retryOperation,
    request: { id },
    hasPlan: false,
    isFollowed: false,
  });
}
