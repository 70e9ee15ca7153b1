import { constants } from "node:http2";
import type { ConnectError } from "@connectrpc/connect";
import type { InfraError } from "../../../adapters/host/infra-error.ts";
import {
  type AnswerHeaders,
  endResponse,
  type HttpRequest,
  type HttpResponse,
} from "../../rpc/protocols/http/http-exchange.ts";
import { refusalTexts, refuse } from "../../rpc/protocols/http/refusal.ts";
import { refuseRest } from "../../rpc/protocols/rest/error.ts";
import { eventFrame } from "../../rpc/protocols/sse/event-frame.ts";
import { connectErrorBody, connectStreamEnd } from "../../rpc/protocols/wire/connect-end.ts";
import { grpcTrailers, grpcWebEnd } from "../../rpc/protocols/wire/grpc-end.ts";
import { textOfChunk } from "../../rpc/protocols/wire/grpc-web-text.ts";
import { rpcReasons } from "../../rpc/reasons.ts";
import type { AnswerForm, Unservable, WireForm } from "./wire-form.ts";

/** Sends an error before anything else was sent, in the protocol of the call. */
export function refuseForwarded(
  { protocol }: WireForm,
  request: HttpRequest,
  response: HttpResponse,
  error: InfraError,
  headers: AnswerHeaders,
  errorDetails: boolean,
): void {
  if (protocol === "rest") {
    refuseRest(request, response, error, headers);
  } else {
    const isUnknown = error.reason === rpcReasons.METHOD_NOT_FOUND.id;
    refuse(request, response, error, headers, { errorDetails, ...(isUnknown ? { httpStatus: 404 } : {}) });
  }
}

/**
 * Ends an answer that was passed in part with an error. Where the client would read the error as a part of a message, its stream
 * or connection is cut instead: a client must never take a part for the whole.
 */
export function endWithError(
  form: AnswerForm,
  request: HttpRequest,
  response: HttpResponse,
  error: ConnectError,
  isAtBoundary: boolean,
): void {
  const isEnded = isAtBoundary && form !== "plain";
  if (!isEnded) {
    cut(response);
    return;
  }
  if (form === "grpc") {
    response.addTrailers(grpcTrailers(undefined, error));
  }
  endResponse(request, response, endOf(form, error));
}

function endOf(form: Exclude<AnswerForm, "plain">, error: ConnectError): Uint8Array | undefined {
  switch (form) {
    case "grpc":
      return undefined;
    case "grpc-web":
      return grpcWebEnd(undefined, error);
    case "grpc-web-text":
      return textOfChunk(grpcWebEnd(undefined, error));
    case "connect-stream":
      return connectStreamEnd(undefined, error);
    case "sse":
      return eventFrame({ type: "error", data: connectErrorBody(error).toString() });
  }
}

/** Cuts an answer. Over HTTP/2 only with an error code: the client would take it for whole otherwise. */
function cut(response: HttpResponse): void {
  if (response.stream === undefined) {
    response.destroy();
  } else {
    response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }
}

/** Answers a request that no protocol carries. */
export function refuseUnservable(
  { status, allow }: Unservable,
  request: HttpRequest,
  response: HttpResponse,
  headers: AnswerHeaders,
): void {
  const type = request.headers["content-type"];
  const unsupported =
    type === undefined ? "no content type" : `unsupported content type ${JSON.stringify(type)}`;
  const withAllow = allow === undefined ? headers : { ...headers, allow };
  if (request.method === "OPTIONS") {
    sendText(request, response, 204, { ...withAllow, allow: `${allow}, OPTIONS` }, undefined);
  } else {
    sendText(request, response, status, withAllow, refusalTexts[status] ?? unsupported);
  }
}

/** Answers a request with a line of text. */
export function sendText(
  request: HttpRequest,
  response: HttpResponse,
  status: number,
  headers: AnswerHeaders,
  text: string | undefined,
): void {
  const own = text === undefined ? {} : { "content-type": "text/plain" };
  for (const [name, value] of Object.entries({ ...headers, ...own })) {
    response.setHeader(name, value);
  }
  response.statusCode = status;
  endResponse(request, response, text === undefined || request.method === "HEAD" ? undefined : `${text}\n`);
}
