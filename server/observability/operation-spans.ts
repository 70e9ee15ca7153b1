import type { OperationObservation } from "../operations/observation.ts";
import { operationChannel } from "../operations/observation.ts";
import { type ActiveSpan, activeSpan, type SpanBegin } from "./active-span.ts";

/**
 * Creates a trace for each run of a durable operation, which belongs to no call. Returns a function that stops it.
 * @param startTrace starts the root span of a trace
 */
export function traceOperations(startTrace: (begin: SpanBegin) => ActiveSpan): () => void {
  const spans = new WeakMap<object, ActiveSpan>();
  const begin = ({ id, kind, resource }: OperationObservation) => {
    const attributes = {
      "hostplane.operation.id": id,
      "hostplane.operation.kind": kind,
      "hostplane.resource": resource,
    };
    return startTrace({ name: kind, attributes });
  };
  const onEnd = (message: unknown) => spans.get(message as OperationObservation)?.end({}, undefined);
  operationChannel.start.bindStore(activeSpan, (observation) => {
    const span = begin(observation);
    spans.set(observation, span);
    return span;
  });
  operationChannel.asyncEnd.subscribe(onEnd);
  return () => {
    operationChannel.start.unbindStore(activeSpan);
    operationChannel.asyncEnd.unsubscribe(onEnd);
  };
}
