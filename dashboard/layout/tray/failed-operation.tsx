import { Link } from "wouter-preact";
import { type Operation, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import {
  cancelLabel,
  isCancellable,
  isRetryable,
  proposeCancel,
  proposeRetry,
} from "../../action/operation-changes.ts";
import { dismissOperation } from "../../live/dismissed-operations.ts";
import { Icon } from "../../parts/icon.tsx";
import { StepLine } from "../../parts/operation/step-line.tsx";
import { stepSummary } from "../../parts/operation/step-summary.ts";
import { Sentence } from "../../parts/text/sentence.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { TrayTitle } from "./tray-title.tsx";

/** An operation that failed or needs attention: why, what was undone, and what to do next. */
export function FailedOperation({ operation }: { readonly operation: Operation }) {
  const { id, state, error, attention, endedAt, startedAt } = operation;
  const { failed, undone } = stepSummary(operation);
  const sentences = [...(attention?.left ?? []), ...(attention?.advice ?? [])];
  return (
    <>
      <div class="row between">
        <TrayTitle operation={operation} />
        <span class="quiet small">
          <TimeText at={endedAt ?? startedAt} />
        </span>
      </div>
      {error !== undefined && (
        <p class="soft">
          <Sentence text={error.message} /> <code class="quiet">{error.reason}</code>
        </p>
      )}
      {sentences.map((sentence) => (
        <p key={sentence} class="soft">
          <Sentence text={sentence} />
        </p>
      ))}
      <ul class="steps">
        {undone.length > 0 && (
          <li class="step">
            <Icon name="restore" />
            <span class="soft one-line">Undone: {undone.map(({ name }) => name).join(", ")}</span>
          </li>
        )}
        {failed.map((step) => (
          <StepLine key={step.name} step={step} shownError={error?.message} />
        ))}
      </ul>
      <div class="row">
        {isRetryable(operation) && (
          <button type="button" class="small" onClick={() => proposeRetry(operation)}>
            Retry…
          </button>
        )}
        {isCancellable(operation) && (
          <button type="button" class="bare small" onClick={() => proposeCancel(operation)}>
            {cancelLabel(operation)}
          </button>
        )}
        <Link href={`~/operations/${id}`} class="button bare small">
          Open
        </Link>
        {state === OperationState.FAILED && (
          <button type="button" class="bare small" onClick={() => dismissOperation(operation)}>
            Dismiss
          </button>
        )}
      </div>
    </>
  );
}
