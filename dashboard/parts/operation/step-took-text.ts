import { type OperationStep, StepState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { tookText } from "./took-text.ts";

const undoStates: ReadonlySet<StepState> = new Set([
  StepState.UNDOING,
  StepState.UNDONE,
  StepState.UNDO_FAILED,
]);

/** Returns how long a step took. For an undone step only the end of undoing is known; the text then says so. */
export function stepTookText(step: Pick<OperationStep, "state" | "startedAt" | "endedAt">): string {
  const took = tookText(step);
  return took !== "" && undoStates.has(step.state) ? `${took} until undone` : took;
}
