import {
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { W3CTraceContextPropagator } from "@opentelemetry/core";
import { ATTR_ERROR_TYPE } from "@opentelemetry/semantic-conventions";
import type { ActiveSpan, SpanAttributes } from "./active-span.ts";

/** A stream may stay open for months and read a system on every change. The limit keeps its trace viewable. */
const maxSpansOfTrace = 1_000;

/** Wraps an OpenTelemetry span in an ActiveSpan. @param context contains the span */
export function createSpan(
  tracer: Tracer,
  propagator: W3CTraceContextPropagator,
  span: Span,
  context: Context,
  budget: { left: number } = { left: maxSpansOfTrace },
): ActiveSpan {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
  return {
    traceId,
    spanId,
    headers() {
      const headers: Record<string, string> = {};
      propagator.inject(context, headers, {
        set: (carrier, name, value) => {
          carrier[name] = value;
        },
      });
      return headers;
    },
    startChild({ name, attributes, isProgram }) {
      // Not isRecording: a mutation continues after its caller has left, and so does its trace.
      if (!isSampled || budget.left === 0) {
        return undefined;
      }
      budget.left -= 1;
      const kind = isProgram === true ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const child = tracer.startSpan(name, { kind, attributes: mutableAttributes(attributes) }, context);
      return createSpan(tracer, propagator, child, trace.setSpan(context, child), budget);
    },
    end(attributes, errorType) {
      span.setAttributes(mutableAttributes(attributes));
      if (errorType !== undefined) {
        span.setAttribute(ATTR_ERROR_TYPE, errorType);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

/** Copies the attributes: OpenTelemetry's type has no readonly arrays. */
export function mutableAttributes(
  attributes: SpanAttributes,
): Record<string, string | number | boolean | string[]> {
  return { ...attributes } as Record<string, string | number | boolean | string[]>;
}
