import { InfraError } from "../../adapters/host/infra-error.ts";
import type { Events } from "../events/events.ts";
import { hasEnded, type Operation } from "./operation.ts";
import type { OperationAtSeq, Operations } from "./operations.ts";

/** Where operations and their changes are read from. */
export interface ChangeSources {
  readonly operations: Pick<Operations, "getAtSeq">;
  readonly events: Pick<Events, "follow">;
}

const topic = "operations";

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
  const filter = { topics: [topic], resources: [], services: undefined, operationId: id };
  for await (const { seq, payload } of events.follow(afterSeq, filter, signal)) {
    yield { seq, operation: payload as Operation };
  }
  throw interruptionOf(signal);
}

/**
 * The changes of an operation behind the event `afterSeq`, up to and with `upToSeq`, which has been the newest.
 * @throws InfraError HISTORY_GONE, SHUTTING_DOWN, and the signal's reason
 */
async function* operationChangesUpTo(
  events: Pick<Events, "follow">,
  id: string,
  { afterSeq, upToSeq }: { readonly afterSeq: number; readonly upToSeq: number },
  signal: AbortSignal,
): AsyncGenerator<OperationAtSeq, void> {
  if (afterSeq >= upToSeq) {
    return;
  }
  // The last event may be about anything.
  const everything = { topics: [], resources: [], services: undefined };
  for await (const record of events.follow(afterSeq, everything, signal)) {
    if (record.operationId === id && record.topic === topic) {
      yield { seq: record.seq, operation: record.payload as Operation };
    }
    if (record.seq >= upToSeq) {
      return;
    }
  }
  throw interruptionOf(signal);
}

function interruptionOf({ aborted, reason }: AbortSignal): unknown {
  return aborted
    ? reason
    : new InfraError("SHUTTING_DOWN", "the gateway is stopping; the operation goes on with the next one");
}

/**
 * An operation as it is now, then each change, up to its end.
 * @throws InfraError OPERATION_NOT_FOUND, HISTORY_GONE, and the signal's reason
 */
export async function* operationFromNow(
  { operations, events }: ChangeSources,
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

/**
 * The changes of an operation behind the event `afterSeq`, up to its end. One whose end was before that is told as it is.
 * @throws InfraError OPERATION_NOT_FOUND, HISTORY_GONE, and the signal's reason
 */
export async function* operationFrom(
  { operations, events }: ChangeSources,
  id: string,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<OperationAtSeq, void> {
  const now = await operations.getAtSeq(id);
  if (hasEnded(now.operation)) {
    let isTold = false;
    for await (const change of operationChangesUpTo(events, id, { afterSeq, upToSeq: now.seq }, signal)) {
      yield change;
      isTold = true;
    }
    if (!isTold) {
      yield now;
    }
    return;
  }
  for await (const change of operationChanges(events, id, afterSeq, signal)) {
    yield change;
    // An end that is older than what was read above was followed by a retry.
    if (hasEnded(change.operation) && change.seq > now.seq) {
      return;
    }
  }
}
