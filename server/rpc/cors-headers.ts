import { cors as ofProtocols } from "@connectrpc/connect";

/** Request headers that a script of another origin may send: those of the protocols, and of each documented feature. */
export const allowedHeaders: readonly string[] = [
  ...ofProtocols.allowedHeaders,
  "authorization",
  "grpc-accept-encoding",
  "grpc-encoding",
  "idempotency-key",
  "if-none-match",
  "last-event-id",
  "traceparent",
  "tracestate",
];

/** Response headers that such a script may read. */
export const exposedHeaders: readonly string[] = [
  ...ofProtocols.exposedHeaders,
  "etag",
  "grpc-encoding",
  "hostplane-backend",
  "hostplane-clamped",
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
