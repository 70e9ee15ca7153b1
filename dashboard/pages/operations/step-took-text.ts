import { type OperationStep, StepState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { tookText } from "./took-text.ts";

const undoStates: ReadonlySet<StepState> = new Set([
  StepState.UNDOING,
  StepState.UNDONE,
  StepState.UNDO_FAILED,
]);

/** How long a step took. Of one that was undone only the end of the undoing is known, which the text then says. */
export function stepTookText(step: Pick<OperationStep, "state" | "startedAt" | "endedAt">): string {
  const took = tookText(step);
  return took !== "" && undoStates.has(step.state) ? `${took} until undone` : took;
}
