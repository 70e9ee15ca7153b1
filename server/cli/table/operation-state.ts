import { OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";

/** Names of the states, as typed and printed. */
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

/** Returns the API's enum value of a state. */
export function operationStateFromName(name: OperationStateName): OperationState {
  return states[name];
}

/** Returns the name of a state, or its number if this version does not know it. */
export function nameOfOperationState(state: OperationState): string {
  return operationStateNames.find((name) => states[name] === state) ?? String(state);
}
