import { OperationState } from "../../gen/hostplane/v1/operation_pb.ts";

/** Those that an operation is in until its end. */
export const openStates: readonly OperationState[] = [
  OperationState.SCHEDULED,
  OperationState.ACTIVE,
  OperationState.UNDOING,
];

/** Whether an operation in this state goes on by itself. */
export function isOpenState(state: OperationState): boolean {
  return openStates.includes(state);
}
