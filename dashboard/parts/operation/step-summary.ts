import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Operation, type OperationStep, StepState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { stepStatus } from "./step-status.ts";

/** The steps of an operation by what has become of them, in order. */
export interface StepSummary {
  readonly done: readonly OperationStep[];
  readonly undone: readonly OperationStep[];
  readonly failed: readonly OperationStep[];
  /** Running or being undone. */
  readonly current: OperationStep | undefined;
  readonly waiting: readonly OperationStep[];
}

/** Groups the steps of an operation. */
export function stepSummary({ steps }: Pick<Operation, "steps">): StepSummary {
  const inState = (...states: readonly StepState[]) => steps.filter(({ state }) => states.includes(state));
  return {
    done: inState(StepState.DONE),
    undone: inState(StepState.UNDONE).filter(({ error }) => error === ""),
    failed: steps.filter((step) => stepStatus(step).kind === "failed"),
    current: inState(StepState.RUNNING, StepState.UNDOING)[0],
    waiting: inState(StepState.PENDING),
  };
}

/** "Step 7 of 12, 58 %"; what of it is known. */
export function stepText(operation: Pick<Operation, "steps" | "progress">): string {
  const { steps, progress } = operation;
  const { current } = stepSummary(operation);
  const number = current === undefined ? undefined : steps.indexOf(current) + 1;
  const place = number === undefined ? "" : `Step ${number} of ${steps.length}`;
  const percent = progress === undefined ? "" : `${Math.round(progress * 100)} %`;
  return [place, percent].filter(Boolean).join(", ");
}

/** Returns how long steps took together in milliseconds, from the start of the first to the end of the last; undefined if not known. */
export function tookTogetherMs(steps: readonly OperationStep[]): number | undefined {
  const starts = steps.flatMap(({ startedAt }) => (startedAt === undefined ? [] : [timestampMs(startedAt)]));
  const ends = steps.flatMap(({ endedAt }) => (endedAt === undefined ? [] : [timestampMs(endedAt)]));
  return starts.length === 0 || ends.length === 0 ? undefined : Math.max(...ends) - Math.min(...starts);
}
