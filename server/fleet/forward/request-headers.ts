import type { OutgoingHttpHeaders } from "node:http2";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import type { Call } from "../../rpc/call/call.ts";
import { hubCallerHeader, idempotencyKeyHeader } from "../../rpc/interceptors/known-headers.ts";
import type { HttpRequest } from "../../rpc/protocols/http/http-exchange.ts";
import { maxTimerMs } from "../../rpc/protocols/wire/unbounded-timeout.ts";
import { encodeHubCaller } from "../caller/hub-caller.ts";
import { type HubOfCaller, hubCallerOf } from "../caller/hub-caller-of.ts";
import { errorDetailsHeader, withoutErrorDetails } from "../links/link-protocol.ts";

/** Headers of a request that a host gets. All others stay at the hub: credentials, cookies, and those of proxies. */
const passedNames: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "content-encoding",
  "content-type",
  idempotencyKeyHeader,
  "if-none-match",
  "last-event-id",
  "traceparent",
  "tracestate",
  "user-agent",
  "x-grpc-web",
  "x-user-agent",
]);

const passedPrefixes = ["grpc-", "connect-"];

const connectTimeoutHeader = "connect-timeout-ms";
const grpcTimeoutHeader = "grpc-timeout";

/** The deadline that a client sent. */
export interface ClientDeadline {
  readonly header: typeof connectTimeoutHeader | typeof grpcTimeoutHeader;
  readonly timeoutMs: number;
}

/**
 * Reads the deadline of a request. Undefined if there is none, or one that is too far away for a timer or malformed: the host
 * refuses that.
 */
export function clientDeadlineOf(
  request: HttpRequest,
  protocol: Call["protocol"],
): ClientDeadline | undefined {
  const textOf = (name: string) => request.headers[name]?.toString() ?? null;
  const isGrpc = protocol === "grpc" || protocol === "grpc-web";
  const isConnect = protocol === "connect" || textOf(connectTimeoutHeader) !== null;
  const header = isGrpc || !isConnect ? grpcTimeoutHeader : connectTimeoutHeader;
  const parse = header === grpcTimeoutHeader ? parseGrpcTimeout : parseConnectTimeout;
  const { timeoutMs } = parse(textOf(header), Number.MAX_SAFE_INTEGER);
  return timeoutMs === undefined || timeoutMs > maxTimerMs ? undefined : { header, timeoutMs };
}

export interface ForwardedRequest {
  readonly request: HttpRequest;
  readonly call: Call;
  readonly deadline: ClientDeadline | undefined;
  readonly host: string;
  /** Path and query on the host. */
  readonly url: string;
  readonly hub: HubOfCaller;
  /** The trace that the host continues; undefined for the client's. */
  readonly traceparent: string | undefined;
}

/** Returns the headers of the request to a host. The caller is as this hub has identified it. */
export function requestHeadersOf(forwarded: ForwardedRequest): OutgoingHttpHeaders {
  const { request, call, deadline, host, url, traceparent } = forwarded;
  const headers: OutgoingHttpHeaders = {
    ":method": request.method,
    ":path": url,
    ":authority": host,
  };
  for (const [name, value] of Object.entries(request.headers)) {
    if (passedNames.has(name) || passedPrefixes.some((prefix) => name.startsWith(prefix))) {
      headers[name] = value;
    }
  }
  // HTTP/2 has no other value.
  if (call.protocol === "grpc") {
    headers.te = "trailers";
  }
  if (deadline !== undefined) {
    headers[deadline.header] = timeoutText(deadline, call.timeLeftMs() ?? deadline.timeoutMs);
  }
  if (traceparent !== undefined) {
    headers.traceparent = traceparent;
  }
  if (!call.peer.errorDetails) {
    headers[errorDetailsHeader] = withoutErrorDetails;
  }
  const caller = hubCallerOf(call, forwarded.hub, host);
  if (caller !== undefined) {
    headers[hubCallerHeader] = encodeHubCaller(caller);
  }
  return headers;
}

/** The largest number that `grpc-timeout` can hold (PROTOCOL-HTTP2.md: at most eight digits). */
const grpcTimeoutMax = 99_999_999;

function timeoutText({ header }: ClientDeadline, leftMs: number): string {
  const ms = Math.max(Math.ceil(leftMs), 1);
  if (header === connectTimeoutHeader) {
    return String(ms);
  }
  return ms <= grpcTimeoutMax ? `${ms}m` : `${Math.ceil(ms / 1000)}S`;
}
