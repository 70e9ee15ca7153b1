import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";
import { z } from "zod";

/** A span as in OTLP's JSON, with its attributes as an object. */
export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 2 is an error. */
  readonly statusCode: number | undefined;
}

/** A trace collector that keeps what it receives. */
export interface TraceCollector {
  readonly endpoint: string;
  readonly spans: readonly CollectedSpan[];
  /** Headers and bodies of all requests. */
  readonly requests: readonly { readonly headers: IncomingHttpHeaders; readonly body: string }[];
  /** Resolves with the span of that name, once it has arrived. */
  span(name: string): Promise<CollectedSpan>;
  /** Resolves with the spans of that name, once `count` have arrived. */
  spansOf(name: string, count: number): Promise<readonly CollectedSpan[]>;
}

/** The parts of ExportTraceServiceRequest (opentelemetry/proto/collector/trace/v1) that are read, in its JSON form. */
const requestSchema = z.object({
  resourceSpans: z.array(
    z.object({
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              name: z.string(),
              traceId: z.string().length(32),
              spanId: z.string().length(16),
              parentSpanId: z.string().optional(),
              kind: z.number(),
              attributes: z.array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) })),
              status: z.object({ code: z.number() }),
            }),
          ),
        }),
      ),
    }),
  ),
});

/** Listens on loopback until the test ends. */
export async function startTraceCollector(t: Test): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const requests: { headers: IncomingHttpHeaders; body: string }[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk);
    }
    const body = Buffer.concat(chunks).toString();
    requests.push({ headers: request.headers, body });
    spans.push(...spansFrom(body));
    response.setHeader("content-type", "application/json").end("{}");
    for (const wake of waiting) {
      wake();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  async function arrival(name: string, count: number): Promise<readonly CollectedSpan[]> {
    for (;;) {
      const found = spans.filter((span) => span.name === name);
      if (found.length >= count) {
        return found;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      await promise;
      waiting.delete(resolve);
    }
  }

  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    spans,
    requests,
    spansOf: arrival,
    async span(name) {
      const [span] = await arrival(name, 1);
      if (span === undefined) {
        throw new Error(`no ${name}`);
      }
      return span;
    },
  };
}

function spansFrom(body: string): CollectedSpan[] {
  const { resourceSpans } = requestSchema.parse(JSON.parse(body));
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .map(({ parentSpanId, attributes, status, ...rest }) => ({
      ...rest,
      parentSpanId,
      // A value is an object with one key, its type.
      attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
      statusCode: status.code,
    }));
}
