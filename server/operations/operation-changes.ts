import { InfraError } from "../../adapters/host/infra-error.ts";
import type { Events } from "../events/events.ts";
import { hasEnded, type Operation } from "./operation.ts";
import type { OperationAtSeq, Operations } from "./operations.ts";

/** The topic of the events that tell of operations. */
export const operationsTopic = "operations";

/**
 * Every change of an operation behind the event `afterSeq`, in order. Does not end by itself, as the operation may be retried.
 * @throws InfraError HISTORY_GONE, SHUTTING_DOWN, and the signal's reason
 */
export async function* operationChanges(
  events: Pick<Events, "follow">,
  id: string,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<OperationAtSeq, void> {
  const filter = { topics: [operationsTopic], resources: [], services: undefined, operationId: id };
  for await (const { seq, payload } of events.follow(afterSeq, filter, signal)) {
    yield { seq, operation: payload as Operation };
  }
  signal.throwIfAborted();
  throw new InfraError("SHUTTING_DOWN", "the gateway is stopping; the operation goes on with the next one");
}

/**
 * An operation as it is now, then each change, up to its end.
 * @throws InfraError OPERATION_NOT_FOUND, HISTORY_GONE, and the signal's reason
 */
export async function* operationFromNow(
  {
    operations,
    events,
  }: { readonly operations: Pick<Operations, "getAtSeq">; readonly events: Pick<Events, "follow"> },
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
