import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type OperationStep, StepState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { nowMs } from "../../live/now.ts";
import { Status } from "../status.tsx";
import { durationText } from "../text/duration-text.ts";
import { stepStatus } from "./step-status.ts";
import { stepTookText } from "./step-took-text.ts";

/** A step in one line: its state, its name and how long it took, or has been running. */
export function StepLine(props: {
  readonly step: OperationStep;
  /** Error that is shown elsewhere. */
  readonly shownError?: string | undefined;
}) {
  const { step, shownError } = props;
  const { name, state, attempt, error } = step;
  const { kind, text } = stepStatus(step);
  return (
    <li class="step">
      <Status kind={kind} text={text} />
      <span class={state === StepState.PENDING ? "soft" : kind === "failed" ? "text-err" : undefined}>
        {name}
        {state !== StepState.DONE &&
          state !== StepState.PENDING &&
          state !== StepState.RUNNING &&
          `: ${text}`}
        {attempt > 1 && <span class="quiet"> {attempt} attempts</span>}
        {error !== "" && error !== shownError && <span class="step-error">{error}</span>}
      </span>
      <span class="quiet keep">{durationOf(step)}</span>
    </li>
  );
}

/** How long a step took; for one that runs, until now. */
function durationOf(step: OperationStep): string {
  const { state, startedAt } = step;
  if (state === StepState.PENDING) {
    return "queued";
  }
  return state === StepState.RUNNING && startedAt !== undefined
    ? durationText(nowMs.value - timestampMs(startedAt))
    : stepTookText(step);
}
