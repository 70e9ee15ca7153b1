import { type Operation, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";

/**
 * Returns the operations that failed and that no later operation of their resource has followed, by resource.
 * @param operations newest first
 */
export function lastFailures(operations: readonly Operation[]): ReadonlyMap<string, Operation> {
  const failures = new Map<string, Operation>();
  const seen = new Set<string>();
  for (const operation of operations) {
    const { resource, state } = operation;
    if (!seen.has(resource) && hasFailed(state)) {
      failures.set(resource, operation);
    }
    // A cancelled operation changes nothing, and says nothing about the failure before it.
    if (state !== OperationState.CANCELLED) {
      seen.add(resource);
    }
  }
  return failures;
}

function hasFailed(state: OperationState): boolean {
  return state === OperationState.FAILED || state === OperationState.NEEDS_ATTENTION;
}
