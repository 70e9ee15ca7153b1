import { hasEnded, type Operation } from "./operation.ts";
import type { OperationAtSeq, Operations } from "./operations.ts";

/** Where changes of operations are read from; server/events has it. */
export interface OperationEvents {
  /** Events of the filter behind `afterSeq`, in order, without gaps and repeats; never ends by itself. */
  follow(
    afterSeq: number,
    filter: {
      readonly topics: readonly string[];
      readonly resources: readonly string[];
      readonly services: undefined;
      readonly operationId: string;
    },
    signal: AbortSignal,
  ): AsyncIterable<{ readonly seq: number; readonly payload: unknown }>;
}

/** The topic of the events that tell of operations. */
export const operationsTopic = "operations";

/**
 * Every change of an operation behind the event `afterSeq`, in order. Goes on behind its end, as it may be retried.
 * @throws InfraError HISTORY_GONE, and the signal's reason
 */
export async function* operationChanges(
  events: OperationEvents,
  id: string,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<OperationAtSeq, void> {
  const filter = { topics: [operationsTopic], resources: [], services: undefined, operationId: id };
  for await (const { seq, payload } of events.follow(afterSeq, filter, signal)) {
    yield { seq, operation: payload as Operation };
  }
}

/**
 * An operation as it is now, then each change, up to its end.
 * @throws InfraError OPERATION_NOT_FOUND, HISTORY_GONE, and the signal's reason
 */
export async function* operationFromNow(
  {
    operations,
    events,
  }: { readonly operations: Pick<Operations, "getAtSeq">; readonly events: OperationEvents },
  id: string,
  signal: AbortSignal,
): AsyncGenerator<OperationAtSeq, void> {
  const now = await operations.getAtSeq(id);
  yield now;
  if (hasEnded(now.operation)) {
    return;
  }
  for await (const change of operationChanges(events, id, now.seq, signal)) {
    yield change;
    if (hasEnded(change.operation)) {
      return;
    }
  }
}
