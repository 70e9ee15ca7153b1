import { AsyncLocalStorage } from "node:async_hooks";

/** What a part of a call's work is told of, in a trace. Values are never taken from a secret. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** What a span is begun with. */
export interface SpanBegin {
  readonly name: string;
  readonly attributes: SpanAttributes;
  /** Another program does the work. */
  readonly isProgram?: boolean;
}

/** The span that the running code works for. Knows no library, so that it costs nothing to name where tracing is off. */
export interface ActiveSpan {
  /** Hexadecimal, 32 digits. */
  readonly traceId: string;
  /** Hexadecimal, 16 digits. */
  readonly spanId: string;
  /** W3C `traceparent` and `tracestate` for a request that is made on behalf of the span. */
  headers(): Readonly<Record<string, string>>;
  /** Begins a child; undefined when the trace is not sampled or has enough spans. */
  startChild(begin: SpanBegin): ActiveSpan | undefined;
  /** Ends the span. @param errorType what kind of failure it was, one of a few; undefined for none */
  end(attributes: SpanAttributes, errorType: string | undefined): void;
}

/** Follows the work of a call through everything it awaits. Empty outside calls and where tracing is off. */
export const activeSpan = new AsyncLocalStorage<ActiveSpan | undefined>();

/** Headers that let the receiver of an outgoing request continue the trace of the call; none where tracing is off. */
export function currentTraceHeaders(): Readonly<Record<string, string>> {
  return activeSpan.getStore()?.headers() ?? {};
}

/** Names the trace in a log record, under the names that OpenTelemetry gives them; nothing where tracing is off. */
export function traceLogFields(): { trace_id?: string; span_id?: string } {
  const span = activeSpan.getStore();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}
