import type { DescMethod } from "@bufbuild/protobuf";
import { type Compression, compressionNegotiate } from "@connectrpc/connect/protocol";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import type { HttpRequest } from "../http/http-exchange.ts";
import { compressions } from "../wire/compression.ts";
import { maxTimerMs } from "../wire/unbounded-timeout.ts";

/** The form of a call on the wire, selected by the content type of its request. */
export interface WireForm {
  readonly protocol: "connect" | "grpc" | "grpc-web";
  readonly isBinary: boolean;
  /** Whether messages have envelopes. All do except those of unary Connect. */
  readonly isEnveloped: boolean;
  /** Content type of the answer. */
  readonly contentType: string;
  /** Headers that name the compression of messages, and those that the client accepts. */
  readonly encodingHeader: string;
  readonly acceptHeader: string;
  readonly timeoutHeader: "connect-timeout-ms" | "grpc-timeout";
}

/** A request before its message is read. */
export interface RequestHead {
  readonly form: WireForm;
  /** Milliseconds until the client's deadline; undefined if it has none, or one too far away for a timer. */
  readonly timeoutMs: number | undefined;
  /** Compression of request messages that are marked as compressed. */
  readonly requestCompression: Compression | null;
  /** Compression that the client accepts for messages of the answer. */
  readonly answerCompression: Compression | null;
}

/** Returns the forms with JSON and with binary messages, by content type. */
function formsOf(protocol: WireForm["protocol"], type: string, headerPrefix: string): [string, WireForm][] {
  const timeoutHeader = protocol === "connect" ? "connect-timeout-ms" : "grpc-timeout";
  return ["json", "proto"].map((codec) => {
    const contentType = `application/${type}${codec}`;
    const form: WireForm = {
      protocol,
      isBinary: codec === "proto",
      isEnveloped: type !== "",
      contentType,
      encodingHeader: `${headerPrefix}encoding`,
      acceptHeader: `${headerPrefix.replace("content-", "")}accept-encoding`,
      timeoutHeader,
    };
    return [contentType, form];
  });
}

const grpcForms = [...formsOf("grpc", "grpc+", "grpc-"), ...formsOf("grpc-web", "grpc-web+", "grpc-")];
const unaryForms = new Map([...grpcForms, ...formsOf("connect", "", "content-")]);
const streamForms = new Map([...grpcForms, ...formsOf("connect", "connect+", "connect-content-")]);

/** Other usual spellings. */
const aliases: readonly (readonly [alias: string, contentType: string])[] = [
  ["application/grpc", "application/grpc+proto"],
  ["application/grpc-web", "application/grpc-web+proto"],
  ["application/json; charset=utf-8", "application/json"],
  ["application/json;charset=utf-8", "application/json"],
];
for (const forms of [unaryForms, streamForms]) {
  for (const [alias, contentType] of aliases) {
    const form = forms.get(contentType);
    if (form !== undefined) {
      forms.set(alias, form);
    }
  }
}

/**
 * Reads the head of a request in the form that nearly every client sends. Returns undefined for anything unusual or wrong:
 * another spelling of a content type, an unknown compression, a malformed deadline, another protocol version than Connect's.
 * connect-es answers such requests, with its own errors.
 */
export function readRequestHead(method: DescMethod, request: HttpRequest): RequestHead | undefined {
  const { headers, httpVersion } = request;
  const forms = method.methodKind === "unary" ? unaryForms : streamForms;
  const form = forms.get(headers["content-type"] ?? "");
  // gRPC's trailers need HTTP/2.
  if (form === undefined || (form.protocol === "grpc" && httpVersion !== "2.0")) {
    return undefined;
  }
  const version = headers["connect-protocol-version"];
  const timeout = headers[form.timeoutHeader];
  const timeoutMs = timeout === undefined ? undefined : timeoutOf(form, String(timeout));
  if (timeoutMs === "malformed" || (version !== undefined && version !== "1")) {
    return undefined;
  }
  const encoding = headers[form.encodingHeader];
  const accepted = headers[form.acceptHeader];
  if (encoding === undefined && accepted === undefined) {
    return { form, timeoutMs, requestCompression: null, answerCompression: null };
  }
  const {
    request: requestCompression,
    response,
    error,
  } = compressionNegotiate(
    compressions,
    encoding === undefined ? null : String(encoding),
    accepted === undefined ? null : String(accepted),
    form.acceptHeader,
  );
  return error === undefined
    ? { form, timeoutMs, requestCompression, answerCompression: response }
    : undefined;
}

function timeoutOf({ timeoutHeader }: WireForm, value: string): number | "malformed" | undefined {
  const parse = timeoutHeader === "grpc-timeout" ? parseGrpcTimeout : parseConnectTimeout;
  const { timeoutMs, error } = parse(value, Number.MAX_SAFE_INTEGER);
  if (error !== undefined) {
    return "malformed";
  }
  return timeoutMs === undefined || timeoutMs > maxTimerMs ? undefined : timeoutMs;
}
