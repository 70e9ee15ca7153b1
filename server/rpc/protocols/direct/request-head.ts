import type { DescMethod } from "@bufbuild/protobuf";
import { type Compression, compressionNegotiate } from "@connectrpc/connect/protocol";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import type { HttpRequest } from "../http/http-exchange.ts";
import { compressions } from "../wire/compression.ts";
import { maxTimerMs } from "../wire/unbounded-timeout.ts";
import { unaryForms, type WireForm, wireFormOf } from "./wire-form.ts";

/** A request before its message is read. */
export interface RequestHead {
  readonly form: WireForm;
  /** Milliseconds until the client's deadline; undefined if it has none, or one too far away for a timer. */
  readonly timeoutMs: number | undefined;
  /** Compression of request messages that are marked as compressed. */
  readonly requestCompression: Compression | null;
  /** Compression that the client accepts for messages of the answer. */
  readonly answerCompression: Compression | null;
  /** Query of Connect's GET, which contains its message; undefined for POST. */
  readonly query: URLSearchParams | undefined;
}

/**
 * Reads the head of a request in the form that nearly every client sends. Returns undefined for anything unusual or wrong:
 * another spelling of a content type, an unknown compression, a malformed deadline, another protocol version than Connect's.
 * connect-es answers such requests, with its own errors.
 */
export function readRequestHead(method: DescMethod, request: HttpRequest): RequestHead | undefined {
  const { headers } = request;
  const isPost = request.method === "POST";
  if (headers["connect-protocol-version"] !== undefined && headers["connect-protocol-version"] !== "1") {
    return undefined;
  }
  const query = isPost || method.methodKind !== "unary" ? undefined : queryOf(request);
  const form = isPost ? wireFormOf(method, headers["content-type"] ?? "") : formOfQuery(query);
  // gRPC's trailers need HTTP/2.
  if (form === undefined || (form.protocol === "grpc" && request.httpVersion !== "2.0")) {
    return undefined;
  }
  const timeout = headers[form.timeoutHeader];
  const timeoutMs = timeout === undefined ? undefined : timeoutOf(form, timeout);
  if (timeoutMs === "malformed") {
    return undefined;
  }
  const encoding =
    query === undefined ? headers[form.encodingHeader] : (query.get("compression") ?? undefined);
  const accepted = headers[form.acceptHeader];
  if (encoding === undefined && accepted === undefined) {
    return { form, timeoutMs, requestCompression: null, answerCompression: null, query };
  }
  const compression = compressionNegotiate(
    compressions,
    encoding === undefined ? null : String(encoding),
    accepted === undefined ? null : String(accepted),
    form.acceptHeader,
  );
  return compression.error === undefined
    ? {
        form,
        timeoutMs,
        requestCompression: compression.request,
        answerCompression: compression.response,
        query,
      }
    : undefined;
}

function queryOf({ url = "" }: HttpRequest): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : url.slice(start + 1));
}

function formOfQuery(query: URLSearchParams | undefined): WireForm | undefined {
  const encoding = query?.get("encoding");
  const isNamed = encoding === "json" || encoding === "proto";
  // connect-es reports which version it supports.
  return isNamed && (query?.get("connect") ?? "v1") === "v1" ? unaryForms[encoding] : undefined;
}

function timeoutOf({ timeoutHeader }: WireForm, value: string | string[]): number | "malformed" | undefined {
  const parse = timeoutHeader === "grpc-timeout" ? parseGrpcTimeout : parseConnectTimeout;
  const { timeoutMs, error } = parse(String(value), Number.MAX_SAFE_INTEGER);
  if (error !== undefined) {
    return "malformed";
  }
  return timeoutMs === undefined || timeoutMs > maxTimerMs ? undefined : timeoutMs;
}
