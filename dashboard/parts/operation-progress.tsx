import { Link } from "wouter-preact";
import { type Operation, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { isOpenState } from "../live/open-state.ts";
import { useOperation } from "../live/use-operation.ts";
import { Badge } from "./badge.tsx";
import { operationStateText, operationTone } from "./operation-state.ts";
import { ReadState } from "./read-state.tsx";
import { sizeText } from "./text/size-text.ts";

/** The progress of an operation, live. */
export function OperationProgress({ id }: { readonly id: string }) {
  return (
    <ReadState of={useOperation(id)}>{(operation) => <OperationFacts operation={operation} />}</ReadState>
  );
}

/** An operation's state, progress bar and message, and what to do about a problem. */
export function OperationFacts({ operation }: { readonly operation: Operation }) {
  const { state, progress, message, doneBytes, totalBytes, error, attention, waitingFor } = operation;
  return (
    <div class="stack">
      <div class="row">
        <Badge tone={operationTone(state)}>{operationStateText(state)}</Badge>
        <Link href={`~/operations/${operation.id}`}>{operation.kind}</Link>
        <span class="quiet">{operation.resource}</span>
      </div>
      {isOpenState(state) && state !== OperationState.SCHEDULED && (
        <progress
          aria-label={`Progress of ${operation.kind}`}
          max={1}
          {...(progress === undefined ? {} : { value: progress })}
        />
      )}
      <div>
        {message}
        {doneBytes !== undefined && totalBytes !== undefined && (
          <span class="quiet">
            {" "}
            {sizeText(doneBytes)} of {sizeText(totalBytes)}
          </span>
        )}
      </div>
      {waitingFor !== "" && <p class="quiet">Waiting: {waitingFor}</p>}
      {error !== undefined && (
        <div class="note bad">
          {error.message} <code class="quiet">{error.reason}</code>
        </div>
      )}
      {attention !== undefined && (
        <div class="note warn">
          <strong>Needs your attention</strong>
          <ul>
            {[...attention.left, ...attention.advice].map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}
