import { InfraError } from "../../adapters/host/infra-error.ts";
import { hostReasons } from "../../adapters/host/reasons.ts";
import type { EventFilter } from "../events/event-record.ts";
import type { Events } from "../events/events.ts";
import { hasEnded, type Operation } from "./operation.ts";
import type { OperationAtSeq, Operations } from "./operations.ts";

/** Sources of operations and their changes. */
export interface ChangeSources {
  readonly operations: Pick<Operations, "getAtSeq">;
  readonly events: Pick<Events, "follow">;
}

function changesOf(id: string): EventFilter {
  return { topics: ["operations"], resources: [], services: undefined, operationId: id };
}

/**
 * Yields every change of an operation after the event `afterSeq`, in order. Does not end by itself, because the operation may
 * be retried.
 * @throws InfraError HISTORY_GONE, SHUTTING_DOWN, and the signal's reason
 */
export async function* operationChanges(
  events: Pick<Events, "follow">,
  id: string,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<OperationAtSeq, void> {
  for await (const { seq, payload } of events.follow(afterSeq, changesOf(id), signal)) {
    yield { seq, operation: payload as Operation };
  }
  throw interruptionOf(signal);
}

function interruptionOf({ aborted, reason }: AbortSignal): unknown {
  return aborted
    ? reason
    : new InfraError(
        hostReasons.SHUTTING_DOWN,
        "the gateway is stopping; the operation continues on the next gateway",
      );
}

/**
 * Yields the current state of an operation, then each change until its end.
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
 * Yields the changes of an operation after the event `afterSeq`, until its end. If it had already ended at that event, yields
 * its current state.
 * @throws InfraError OPERATION_NOT_FOUND, HISTORY_GONE, and the signal's reason
 */
export async function* operationFrom(
  { operations, events }: ChangeSources & { readonly events: Pick<Events, "between"> },
  id: string,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<OperationAtSeq, void> {
  const now = await operations.getAtSeq(id);
  if (hasEnded(now.operation)) {
    let hasYielded = false;
    for await (const { seq, payload } of events.between(afterSeq, now.seq, changesOf(id), signal)) {
      yield { seq, operation: payload as Operation };
      hasYielded = true;
    }
    if (!hasYielded) {
      yield now;
    }
    return;
  }
  for await (const change of operationChanges(events, id, afterSeq, signal)) {
    yield change;
    // An end older than the state read above was followed by a retry.
    if (hasEnded(change.operation) && change.seq > now.seq) {
      return;
    }
  }
}
