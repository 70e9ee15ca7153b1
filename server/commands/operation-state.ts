import { OperationState } from "../../gen/hostplane/v1/operation_pb.ts";

/** Names of the states as they are typed and printed. */
export const operationStateNames = [
  "scheduled",
  "active",
  "undoing",
  "completed",
  "failed",
  "cancelled",
  "needs-attention",
] as const;

export type OperationStateName = (typeof operationStateNames)[number];

const states: Readonly<Record<OperationStateName, OperationState>> = {
  scheduled: OperationState.SCHEDULED,
  active: OperationState.ACTIVE,
  undoing: OperationState.UNDOING,
  completed: OperationState.COMPLETED,
  failed: OperationState.FAILED,
  cancelled: OperationState.CANCELLED,
  "needs-attention": OperationState.NEEDS_ATTENTION,
};

/** The contract's number of a state. */
export function operationStateFromName(name: OperationStateName): OperationState {
  return states[name];
}

/** The name of a state; its number where this version has none for it. */
export function nameOfOperationState(state: OperationState): string {
  return operationStateNames.find((name) => states[name] === state) ?? String(state);
}
