import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Operation, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { nowMs } from "../../live/now.ts";
import { durationText } from "../text/duration-text.ts";
import { operationTitle } from "../text/operation-title.ts";
import { sizeText } from "../text/size-text.ts";
import { stepText } from "./step-summary.ts";
import { roughDurationText, timeLeftMs } from "./time-left.ts";

/** The progress of an operation that has not ended: a bar, its step and percent, the time that has passed and that is left. */
export function ProgressLine({ operation }: { readonly operation: Operation }) {
  const { state, progress, startedAt, waitingFor, doneBytes, totalBytes, cancelRequested } = operation;
  if (state === OperationState.SCHEDULED) {
    return <p class="small soft">{waitingFor === "" ? "Queued" : `Queued: ${waitingFor}`}</p>;
  }
  const leftMs = timeLeftMs(operation, nowMs.value);
  const times = [
    startedAt === undefined ? "" : `${durationText(nowMs.value - timestampMs(startedAt))} elapsed`,
    leftMs === undefined ? "" : `about ${roughDurationText(leftMs)} left`,
  ];
  return (
    <div class="stack tight">
      <progress
        aria-label={`Progress of ${operationTitle(operation)}`}
        max={1}
        {...(progress === undefined ? {} : { value: progress })}
      />
      <div class="row between small soft">
        <span>
          {stepText(operation)}
          {doneBytes !== undefined &&
            totalBytes !== undefined &&
            `, ${sizeText(doneBytes)} of ${sizeText(totalBytes)}`}
          {cancelRequested && ", cancellation requested"}
        </span>
        <span>{times.filter(Boolean).join(", ")}</span>
      </div>
      {waitingFor !== "" && <p class="small soft">Waiting: {waitingFor}</p>}
    </div>
  );
}
