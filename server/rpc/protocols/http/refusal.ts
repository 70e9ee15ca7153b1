import { codeToHttpStatus } from "@connectrpc/connect/protocol-connect";
import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import { connectErrorFromInfraError } from "../../errors/connect-error.ts";
import { connectErrorBody, connectStreamEnd } from "../wire/connect-end.ts";
import { grpcTrailers } from "../wire/grpc-end.ts";
import { endResponse, type HttpRequest, type HttpResponse } from "./http-exchange.ts";

/**
 * Texts for requests that no protocol's handler accepts, by HTTP status. They are sent as plain text: an error in Connect's form
 * needs a code, while clients of the protocols derive one from the status (the conformance suite expects `unknown`).
 */
export const refusalTexts: Readonly<Record<number, string>> = {
  405: "this RPC supports POST, and GET only if it has no side effects and returns no secrets (Connect GET; for streams, server-sent events)",
  406: "GET of this stream needs the header accept: text/event-stream (server-sent events)",
  505: "this RPC needs HTTP/2",
};

export interface RefusalOptions {
  /** Status of the JSON answer. Default: Connect's status for the error's code. */
  readonly httpStatus?: number;
  /** Whether the answer has the details that the gateway adds to an error; true if absent. */
  readonly errorDetails?: boolean;
}

/**
 * Refuses a request that reaches no method, in the protocol that its content type names, so that the client's library shows the
 * code instead of a parse error. gRPC and gRPC-Web get a trailers-only answer (PROTOCOL-HTTP2.md, PROTOCOL-WEB.md), a Connect
 * stream gets an end-of-stream message, and everything else Connect's JSON error.
 */
export function refuse(
  request: HttpRequest,
  response: HttpResponse,
  error: InfraError,
  headers: Record<string, number | string | string[] | undefined>,
  { httpStatus, errorDetails = true }: RefusalOptions = {},
): void {
  const wire = connectErrorFromInfraError(error, errorDetails);
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("application/grpc")) {
    answer(200, { ...grpcTrailers(undefined, wire), "content-type": type }, undefined);
    return;
  }
  if (type.startsWith("application/connect+")) {
    answer(200, { "content-type": type }, connectStreamEnd(undefined, wire));
    return;
  }
  const headersOfJson = { "content-type": "application/json" };
  answer(httpStatus ?? codeToHttpStatus(wire.code), headersOfJson, connectErrorBody(wire));

  function answer(status: number, own: Record<string, string>, body: Uint8Array | undefined): void {
    for (const [name, value] of Object.entries({ ...headers, ...own })) {
      if (value !== undefined) {
        response.setHeader(name, value);
      }
    }
    response.setHeader("content-length", body?.byteLength ?? 0);
    // Not writeHead: over HTTP/2 it would end the stream with an empty DATA frame, and grpc-go requires headers that end the
    // stream in a trailers-only answer ("closed the stream without sending trailers").
    response.statusCode = status;
    endResponse(request, response, request.method === "HEAD" ? undefined : body);
  }
}
