import { Link } from "wouter-preact";
import { type Operation, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { isOpenState } from "../live/open-state.ts";
import { useOperation } from "../live/use-operation.ts";
import { Note } from "./note.tsx";
import { operationStateText, operationStatus } from "./operation-state.ts";
import { ReadState } from "./read-state.tsx";
import { StatusText } from "./status.tsx";
import { operationTitle } from "./text/operation-title.ts";
import { sizeText } from "./text/size-text.ts";
import { TimeText } from "./text/time-text.tsx";

/** The progress of an operation, live. */
export function OperationProgress({ id }: { readonly id: string }) {
  return (
    <ReadState of={useOperation(id)}>{(operation) => <OperationFacts operation={operation} />}</ReadState>
  );
}

/** An operation's state, progress bar and message, and what to do about a problem. */
export function OperationFacts({ operation }: { readonly operation: Operation }) {
  const { state, progress, message, doneBytes, totalBytes, error, attention, waitingFor } = operation;
  const isOpen = isOpenState(state);
  return (
    <div class="stack tight">
      <div class="row between">
        <Link href={`~/operations/${operation.id}`}>
          <strong>{operationTitle(operation)}</strong>
        </Link>
        <StatusText kind={operationStatus(state)}>{operationStateText(state)}</StatusText>
      </div>
      {isOpen && state !== OperationState.SCHEDULED && (
        <progress
          aria-label={`Progress of ${operationTitle(operation)}`}
          max={1}
          {...(progress === undefined ? {} : { value: progress })}
        />
      )}
      <div class="row between small soft">
        <span>
          {message}
          {doneBytes !== undefined && totalBytes !== undefined && (
            <>
              {" "}
              {sizeText(doneBytes)} of {sizeText(totalBytes)}
            </>
          )}
        </span>
        <TimeText at={operation.endedAt ?? operation.startedAt ?? operation.createdAt} />
      </div>
      {waitingFor !== "" && <p class="quiet">Waiting: {waitingFor}</p>}
      {error !== undefined && (
        <Note tone="bad">
          <span>
            {error.message} <code class="quiet">{error.reason}</code>
          </span>
        </Note>
      )}
      {attention !== undefined && (
        <Note tone="warn">
          <strong>Needs your attention</strong>
          <ul>
            {[...attention.left, ...attention.advice].map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </Note>
      )}
    </div>
  );
}
