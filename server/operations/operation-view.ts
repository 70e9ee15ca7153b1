import type { Events } from "../events/events.ts";
import { hasEnded, type Operation } from "./operation.ts";
import { operationChanges, operationFromNow } from "./operation-changes.ts";
import type { OperationAtSeq, Operations } from "./operations.ts";

/** One message of a stream that tells of an operation in band; the last one is `completed` or `failed`. */
export interface OperationViewMessage {
  readonly state: "scheduled" | "active" | "completed" | "failed";
  /** What there is to say, for people; of `failed` why. */
  readonly message: string;
}

export interface OperationViewSources {
  readonly operations: Pick<Operations, "getAtSeq">;
  readonly events: Pick<Events, "follow" | "headSeq">;
}

/** Whoever looks at an operation: a call. */
export interface OperationViewer {
  readonly signal: AbortSignal;
  /** Told which operation it is, before the first message. */
  noteOperation(id: string): void;
}

/**
 * Makes of an RPC that streams its progress a view of a durable operation: begins the operation, or finds the one that a
 * request like it began, and tells its states up to the end. However the operation ends, the stream ends well. A viewer that
 * leaves does not stop it, and finds it again by the same request.
 * @param start `start` of an OperationStarter, with an `attachKey` that says which requests are the same
 * @param describeResult what is said of one that has completed
 * @throws InfraError as `start` does, and the signal's reason
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
  // A new one is told from its beginning on, however quick it is.
  const changes: AsyncIterable<OperationAtSeq> = isNew
    ? operationChanges(sources.events, operation.id, beforeSeq, viewer.signal)
    : operationFromNow(sources, operation.id, viewer.signal);
  let last: OperationViewMessage | undefined;
  for await (const change of changes) {
    const told = viewMessage(change.operation, describeResult);
    if (isNews(told, last)) {
      yield told;
      last = told;
    }
    if (hasEnded(change.operation)) {
      return;
    }
  }
}

/** At the end of a step its figures are gone, and its message is not: that says nothing. */
function isNews(told: OperationViewMessage, last: OperationViewMessage | undefined): boolean {
  return (
    told.state !== last?.state ||
    !(told.message === last.message || last.message.startsWith(`${told.message}: `))
  );
}

function viewMessage(
  operation: Operation,
  describeResult: (operation: Operation) => string,
): OperationViewMessage {
  const { state, message, waitingFor, failure, attention } = operation;
  switch (state) {
    case "scheduled":
      return { state, message: waitingFor || message || "it waits for its turn" };
    case "active":
      return { state, message: waitingFor || (message || "it begins") + percentWords(operation) };
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

/** How far the step is; nothing where its size is not known. */
function percentWords({ doneBytes, totalBytes }: Operation): string {
  if (doneBytes === undefined || totalBytes === undefined || totalBytes <= 0) {
    return "";
  }
  return `: ${Math.min(100, Math.floor((100 * doneBytes) / totalBytes))} %`;
}
