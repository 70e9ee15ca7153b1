import { AsyncLocalStorage } from "node:async_hooks";

/** Attributes of a span. Values are never taken from a secret. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Start of a span. */
export interface SpanBegin {
  readonly name: string;
  readonly attributes: SpanAttributes;
  /** Another program does the work. */
  readonly isProgram?: boolean;
}

/**
 * The span that the running code belongs to. It imports no tracing library, so that using it costs nothing where tracing is off.
 */
export interface ActiveSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Returns W3C `traceparent` and `tracestate` for a request made on behalf of the span. */
  headers(): Readonly<Record<string, string>>;
  /** Starts a child; returns undefined if the trace is not sampled or has reached its limit of spans. */
  startChild(begin: SpanBegin): ActiveSpan | undefined;
  /** Ends the span. @param errorType one of a few kinds of failure; undefined for none */
  end(attributes: SpanAttributes, errorType: string | undefined): void;
}

/** Follows a call's work through everything it awaits. Empty outside calls and where tracing is off. */
export const activeSpan = new AsyncLocalStorage<ActiveSpan | undefined>();

/** Returns the trace's ids for a log record, under OpenTelemetry's names; empty where tracing is off. */
export function traceLogFields(): { trace_id?: string; span_id?: string } {
  const span = activeSpan.getStore();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}
