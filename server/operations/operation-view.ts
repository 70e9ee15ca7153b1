import type { Events } from "../events/events.ts";
import { hasEnded, type Operation } from "./operation.ts";
import { operationChanges, operationFromNow } from "./operation-changes.ts";
import type { OperationAtSeq, Operations } from "./operations.ts";

/** One message of a stream that reports an operation in band; the last one is `completed` or `failed`. */
export interface OperationViewMessage {
  readonly state: "scheduled" | "active" | "completed" | "failed";
  /** Text for users; for `failed`, the reason. */
  readonly message: string;
}

export interface OperationViewSources {
  readonly operations: Pick<Operations, "getAtSeq">;
  readonly events: Pick<Events, "follow" | "headSeq">;
}

/** The call that views an operation. */
export interface OperationViewer {
  readonly signal: AbortSignal;
  /** Called with the operation's ID before the first message. */
  noteOperation(id: string): void;
}

/**
 * Turns an RPC that streams its progress into a view of a durable operation: starts the operation, or finds the one that an
 * equal request started, and reports its states until the end. The stream succeeds however the operation ends. A viewer that
 * disconnects does not stop the operation, and finds it again with the same request.
 * @param start `start` of an OperationStarter, with an `attachKey` that is the same for equal requests
 * @param describeResult returns the message of a completed operation
 * @throws InfraError the errors of `start`, and the signal's reason
 */
export async function* operationView(
  sources: OperationViewSources,
  viewer: OperationViewer,
  start: () => Promise<{ readonly operation: Operation; readonly isNew: boolean }>,
  describeResult: (operation: Operation) => string = ({ message }) => message,
): AsyncGenerator<OperationViewMessage, void> {
  const beforeSeq = sources.events.headSeq;
  const { operation, isNew } = await start();
  viewer.noteOperation(operation.id);
  // A new operation is reported from its beginning, however short it is.
  const changes: AsyncIterable<OperationAtSeq> = isNew
    ? operationChanges(sources.events, operation.id, beforeSeq, viewer.signal)
    : operationFromNow(sources, operation.id, viewer.signal);
  let last: OperationViewMessage | undefined;
  for await (const change of changes) {
    const view = viewMessage(change.operation, describeResult);
    if (isNews(view, last)) {
      yield view;
      last = view;
    }
    if (hasEnded(change.operation)) {
      return;
    }
  }
}

/** When a step ends, only the figures disappear from the message; that is not reported. */
function isNews(view: OperationViewMessage, last: OperationViewMessage | undefined): boolean {
  return (
    view.state !== last?.state ||
    !(view.message === last.message || last.message.startsWith(`${view.message}: `))
  );
}

function viewMessage(
  operation: Operation,
  describeResult: (operation: Operation) => string,
): OperationViewMessage {
  const { state, message, waitingFor, failure, attention } = operation;
  switch (state) {
    case "scheduled":
      return { state, message: waitingFor || message || "queued" };
    case "active":
      return { state, message: waitingFor || (message || "starting") + percentWords(operation) };
    case "undoing":
      return { state: "active", message: waitingFor || message };
    case "completed":
      return { state, message: describeResult(operation) };
    case "failed":
    case "cancelled":
    case "needsAttention": {
      const why = failure?.message ?? message;
      const words = attention && [...attention.left, ...attention.advice].join(" ");
      return { state: "failed", message: words === undefined ? why : `${why} (${words})` };
    }
  }
}

/** Formats the progress of the step; empty where its size is unknown. */
function percentWords({ doneBytes, totalBytes }: Operation): string {
  if (doneBytes === undefined || totalBytes === undefined || totalBytes <= 0) {
    return "";
  }
  return `: ${Math.min(100, Math.floor((100 * doneBytes) / totalBytes))} %`;
}
