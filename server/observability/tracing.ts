import { hostname } from "node:os";
import { ROOT_CONTEXT, SpanKind, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from "@opentelemetry/semantic-conventions";
import type { InfraError } from "../../adapters/host/infra-error.ts";
import type { Call } from "../rpc/call/call.ts";
import { methodPathOf } from "../rpc/call/method-rule.ts";
import { activeSpan } from "./active-span.ts";
import { traceOperations } from "./operation-spans.ts";
import { createSpan, mutableAttributes } from "./otel-span.ts";
import { rpcBeginAttributes, rpcEndAttributes, rpcErrorType } from "./rpc-attributes.ts";
import { readTraceHeaders } from "./trace-headers.ts";
import { watchExports } from "./watch-exports.ts";
import { traceWork } from "./work-spans.ts";

export interface TracingOptions {
  /** URL that spans are sent to by OTLP/HTTP with JSON, e.g. `http://127.0.0.1:4318/v1/traces`. */
  readonly endpoint: string;
  /** Share of the traces started here that are kept, 0 to 1. For a caller that sends `traceparent`, its own decision applies. */
  readonly sampleRatio: number;
  /** File with headers for the collector (see `trace-headers.ts`). */
  readonly headersFile?: string | undefined;
  readonly version: string;
  readonly isSandbox: boolean;
  /** Called when spans cannot be sent, once until sending works again. */
  readonly onExportFailed: (error: Error | undefined) => void;
}

/** The span of a call. */
export interface RpcSpan {
  /** Runs the task, and everything it awaits, as part of the call. */
  run<T>(task: () => T): T;
  /** @param error undefined if the call succeeded */
  end(error: InfraError | undefined): void;
}

export interface Tracing {
  /** Starts the call's span, continuing the caller's trace, and names it in the response header `traceparent`. */
  startRpc(call: Call): RpcSpan;
  /** Sends the remaining spans, for at most two seconds. */
  close(): Promise<void>;
}

/** How long the gateway's shutdown waits for the collector. */
const flushMs = 2_000;

/**
 * Starts tracing: traces calls from the RPC down to the command, and operations from their claim on, and sends the spans to a
 * collector. Calls never wait for sending: at most 2,048 ended spans are queued, and further ones are dropped. Nothing is
 * registered in OpenTelemetry's globals.
 * @throws Error when the file of headers cannot be used
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  const headers = options.headersFile === undefined ? {} : await readTraceHeaders(options.headersFile);
  const exporter = new OTLPTraceExporter({ url: options.endpoint, headers, timeoutMillis: 5_000 });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      [ATTR_SERVICE_NAME]: "hostplane",
      [ATTR_SERVICE_VERSION]: options.version,
      "host.name": hostname(),
      "hostplane.backend": options.isSandbox ? "sandbox" : "real",
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.sampleRatio) }),
    // Bounds values that a caller chose, such as a name in an argv.
    spanLimits: { attributeValueLengthLimit: 4_096 },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: watchExports(exporter, options.onExportFailed),
        maxQueueSize: 2_048,
        scheduledDelayMillis: 1_000,
        exportTimeoutMillis: 6_000,
      }),
    ],
  });
  const tracer = provider.getTracer("hostplane", options.version);
  const propagator = new W3CTraceContextPropagator();
  traceWork();
  const endOperations = traceOperations(({ name, attributes }) => {
    const options = { kind: SpanKind.INTERNAL, attributes: mutableAttributes(attributes) };
    const otel = tracer.startSpan(name, options, ROOT_CONTEXT);
    return createSpan(tracer, propagator, otel, trace.setSpan(ROOT_CONTEXT, otel));
  });

  return {
    startRpc(call) {
      const parent = propagator.extract(ROOT_CONTEXT, call, {
        get: (from, name) => from.header(name),
        keys: (from) => [...from.headerNames()],
      });
      const otel = tracer.startSpan(
        methodPathOf(call.method),
        { kind: SpanKind.SERVER, attributes: rpcBeginAttributes(call) },
        parent,
      );
      const span = createSpan(tracer, propagator, otel, trace.setSpan(parent, otel));
      const { traceparent } = span.headers();
      if (traceparent !== undefined) {
        call.setHeader("traceparent", traceparent);
      }
      return {
        run: (task) => activeSpan.run(span, task),
        end: (error) => span.end(rpcEndAttributes(call, error), rpcErrorType(error)),
      };
    },
    async close() {
      endOperations();
      const patience = Promise.withResolvers<void>();
      const timer = setTimeout(patience.resolve, flushMs);
      // Export failures were already reported by `onExportFailed`.
      await Promise.race([provider.shutdown().catch(() => {}), patience.promise]);
      clearTimeout(timer);
    },
  };
}
