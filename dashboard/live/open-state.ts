import { OperationState } from "../../gen/hostplane/v1/operation_pb.ts";

/** States of an operation that has not ended. */
export const openStates: readonly OperationState[] = [
  OperationState.SCHEDULED,
  OperationState.ACTIVE,
  OperationState.UNDOING,
];

/** Reports whether an operation in this state continues by itself. */
export function isOpenState(state: OperationState): boolean {
  return openStates.includes(state);
}
