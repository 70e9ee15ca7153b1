import type { IncomingHttpHeaders } from "node:http2";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { AnswerHeaders } from "../../rpc/protocols/http/http-exchange.ts";
import { fleetReasons } from "../reasons.ts";
import { bodyFormOf, isAnswerOf, type WireForm } from "./wire-form.ts";

/** Headers of an answer that pass. Never `set-cookie` and `location`: a host must not act as the hub towards a browser. */
const passedNames: ReadonlySet<string> = new Set([
  "accept-encoding",
  "cache-control",
  "connect-accept-encoding",
  "connect-content-encoding",
  "content-encoding",
  "content-type",
  "etag",
  "grpc-accept-encoding",
  "grpc-encoding",
  "grpc-message",
  "grpc-status",
  "grpc-status-details-bin",
  "hostplane-backend",
  "hostplane-clamped",
  "hostplane-idempotent-replay",
  "hostplane-missing",
  "hostplane-operation",
  "hostplane-radar",
  "hostplane-snapshot-age",
  "hostplane-unknown-fields",
  "retry-after",
  "x-accel-buffering",
]);

/** Connect sends the trailers of a unary call as headers with this prefix. */
const trailerPrefix = "trailer-";

const passedTrailers = ["grpc-status", "grpc-message", "grpc-status-details-bin"] as const;

/** The head of a host's answer. */
export interface HostHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Whether nothing follows. */
  readonly isAll: boolean;
}

/**
 * Returns the headers of a host's answer that the client gets.
 * @param own headers that this hub gives every answer
 * @throws InfraError BAD_HOST_ANSWER if it is not an answer in the protocol of the call
 */
export function answerHeadersFrom(
  { status, headers }: HostHead,
  { form }: WireForm,
  host: string,
  own: AnswerHeaders,
): AnswerHeaders {
  const contentType = headers["content-type"];
  if (!isAnswerOf(form, status, contentType)) {
    const what =
      contentType === undefined ? "no content type" : `content type ${JSON.stringify(contentType)}`;
    throw badAnswer(host, `status ${status} and ${what}`);
  }
  const { "hostplane-backend": _hubs, ...answer } = own;
  for (const [name, value] of Object.entries(headers)) {
    if ((passedNames.has(name) || name.startsWith(trailerPrefix)) && value !== undefined) {
      answer[name] = String(value);
    }
  }
  const vary = [own.vary, headers.vary].filter((value) => value !== undefined);
  if (vary.length > 0) {
    answer.vary = vary.join(", ");
  }
  const sizeBytes = bodyFormOf(form, contentType) === "plain" ? sizeOf(headers) : undefined;
  if (sizeBytes !== undefined) {
    answer["content-length"] = sizeBytes;
  }
  answer["x-content-type-options"] = "nosniff";
  answer["hostplane-host"] = host;
  return answer;
}

/** Returns the length of the body, in bytes, that an answer announces. */
export function sizeOf(headers: IncomingHttpHeaders): number | undefined {
  const text = headers["content-length"];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Returns the trailers of a host's answer that the client gets; undefined if they do not end a gRPC call. */
export function answerTrailersFrom(
  trailers: IncomingHttpHeaders | undefined,
): Record<string, string> | undefined {
  if (trailers?.["grpc-status"] === undefined) {
    return;
  }
  const passed: Record<string, string> = {};
  for (const name of passedTrailers) {
    const value = trailers[name];
    if (typeof value === "string") {
      passed[name] = value;
    }
  }
  return passed;
}

/** The error for an answer that a host of this version does not send. @param what what is wrong with it */
export function badAnswer(host: string, what: string): InfraError {
  return new InfraError(
    fleetReasons.BAD_HOST_ANSWER,
    `the answer of host ${host} is not a valid answer to an RPC: ${what}`,
  );
}
