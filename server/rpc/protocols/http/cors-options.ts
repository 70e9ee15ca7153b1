import { cors as ofProtocols } from "@connectrpc/connect";
import type { FastifyCorsOptions } from "@fastify/cors";

/** Request headers of the protocols and of every documented feature. */
const allowedHeaders = [
  ...ofProtocols.allowedHeaders,
  "authorization",
  "grpc-accept-encoding",
  "grpc-encoding",
  "hostplane-host",
  "idempotency-key",
  "if-none-match",
  "last-event-id",
  "traceparent",
  "tracestate",
];

const exposedHeaders = [
  ...ofProtocols.exposedHeaders,
  "etag",
  "grpc-encoding",
  "hostplane-backend",
  "hostplane-clamped",
  "hostplane-host",
  "hostplane-idempotent-replay",
  "hostplane-missing",
  "hostplane-operation",
  "hostplane-radar",
  "hostplane-request-id",
  "hostplane-snapshot-age",
  "hostplane-unknown-fields",
  "retry-after",
  "traceparent",
];

/**
 * Returns the permissions of pages from other origins: call every method, send the headers of every documented feature, and read
 * the response headers.
 * @param origins of the pages, as `https://dashboard.example`
 * @param restMethods HTTP methods of the REST routes
 */
export function createCorsOptions(
  origins: readonly string[],
  restMethods: readonly string[],
): FastifyCorsOptions {
  return {
    origin: [...origins],
    methods: [...new Set([...ofProtocols.allowedMethods, ...restMethods])],
    allowedHeaders,
    exposedHeaders,
    maxAge: 7200,
  };
}
