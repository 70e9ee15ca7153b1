import type { IncomingHttpHeaders } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  codeFromHttpStatus,
  endStreamFromJson,
  errorFromJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import { type ErrorCode, errorCodes } from "../../../adapters/host/define-reasons.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { type Call, operationHeader } from "../../rpc/call/call.ts";
import { errorCodeFrom } from "../../rpc/errors/connect-error.ts";
import { outcomeHeader, resourceHeader } from "../../rpc/interceptors/outcome-report.ts";
import { compressions } from "../../rpc/protocols/wire/compression.ts";
import type { HostHead } from "./answer-headers.ts";
import type { EndEnvelope } from "./envelope-tracker.ts";
import type { AnswerForm, WireForm } from "./wire-form.ts";

/** Errors that hosts have reported: their answers have them already. */
const reported = new WeakSet<object>();

/** Reports whether an error is one that a host has reported, and that its answer contains. */
export function isReported(error: unknown): boolean {
  return typeof error === "object" && error !== null && reported.has(error);
}

const outcomePattern = /^([A-Z_]{1,40})\/([A-Z0-9_]{1,100})$/;
const operationPattern = /^[\w-]{1,100}$/;
const resourceMaxLength = 1024;

/** Notes the resource and the operation that a host reports for a call. They are for the log and the audit log. */
export function noteReported({ headers }: HostHead, call: Call): void {
  const resource = headers[resourceHeader];
  if (typeof resource === "string") {
    call.noteResource(decoded(resource).slice(0, resourceMaxLength));
  }
  const operation = headers[operationHeader];
  if (typeof operation === "string" && operationPattern.test(operation)) {
    call.noteOperation(operation);
  }
}

/** Returns the error that a unary call ended with, by the head of its answer; undefined if it succeeded. */
export function errorOfHead(head: HostHead, { form }: WireForm): InfraError | undefined {
  const { status, headers } = head;
  const outcome = headers[outcomeHeader];
  if (outcome === "OK") {
    return undefined;
  }
  const [, code = "", reason = ""] = outcomePattern.exec(String(outcome)) ?? [];
  if (isErrorCode(code)) {
    return hostError(code, reason);
  }
  // A request that the host refused before it became a call has no outcome.
  if (form === "plain" || form === "sse") {
    return status >= 400 ? hostErrorFrom(new ConnectError("", codeFromHttpStatus(status))) : undefined;
  }
  return errorOfTrailers(headers);
}

/** Returns the error in gRPC's trailers, or in the head of an answer that has nothing else. */
export function errorOfTrailers(trailers: IncomingHttpHeaders): InfraError | undefined {
  // Nearly every call. The first `new Headers()` of a process loads Node's `fetch`, which takes 15 MB of memory.
  if (trailers["grpc-status"] === "0" && trailers["grpc-status-details-bin"] === undefined) {
    return undefined;
  }
  const all = new Headers();
  for (const name of ["grpc-status", "grpc-message", "grpc-status-details-bin"]) {
    const value = trailers[name];
    if (typeof value === "string") {
      all.set(name, value);
    }
  }
  return hostErrorFrom(attempted(() => findTrailerError(all)));
}

/** Returns the error in the envelope or event that ended a stream; undefined if it ended without one. */
export async function errorOfEnd(
  form: AnswerForm,
  end: EndEnvelope,
  headers: IncomingHttpHeaders,
): Promise<InfraError | undefined> {
  const data = await decompressed(form, end, headers);
  if (data === undefined) {
    return hostError("INTERNAL", "UNREADABLE_END");
  }
  if (form === "connect-stream") {
    return hostErrorFrom(attempted(() => endStreamFromJson(data).error));
  }
  if (form === "sse") {
    const fallback = new ConnectError("", Code.Internal);
    return data.byteLength === 0
      ? undefined
      : hostErrorFrom(attempted(() => errorFromJsonBytes(data, undefined, fallback)));
  }
  return hostErrorFrom(attempted(() => findTrailerError(trailerParse(data))));
}

const endMaxBytes = 1 << 20;

async function decompressed(
  form: AnswerForm,
  { isCompressed, data }: EndEnvelope,
  headers: IncomingHttpHeaders,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (data === undefined) {
    return undefined;
  }
  const bytes = new Uint8Array(data);
  const name = headers[form === "connect-stream" ? "connect-content-encoding" : "grpc-encoding"];
  const compression = compressions.find((one) => one.name === name);
  return isCompressed ? await compression?.decompress(bytes, endMaxBytes).catch(() => undefined) : bytes;
}

/** Returns what the function returns; an error for an end that cannot be parsed. */
function attempted(parse: () => ConnectError | undefined): ConnectError | undefined {
  try {
    return parse();
  } catch {
    return new ConnectError("", Code.Internal);
  }
}

function hostErrorFrom(error: ConnectError | undefined): InfraError | undefined {
  if (error === undefined) {
    return undefined;
  }
  const code = errorCodeFrom(error.code);
  const [info] = error.findDetails(ErrorInfoSchema);
  return hostError(code, info?.reason ?? code);
}

function hostError(code: ErrorCode, reason: string): InfraError {
  const id = reason.slice(0, 100);
  const error = new InfraError({ id, code, retryable: false }, `the host reported ${id}`);
  reported.add(error);
  return error;
}

function isErrorCode(text: string): text is ErrorCode {
  return (errorCodes as readonly string[]).includes(text);
}

function decoded(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}
