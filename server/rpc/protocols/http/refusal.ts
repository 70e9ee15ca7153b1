import {
  codeToHttpStatus,
  endStreamFlag,
  endStreamToJson,
  errorToJson,
} from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import { connectErrorFromInfraError } from "../../errors/connect-error.ts";
import { envelopeOf } from "../wire/envelope.ts";
import { endResponse, type HttpRequest, type HttpResponse } from "./http-exchange.ts";

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
    const status = new Headers({ "content-type": type });
    setTrailerStatus(status, wire);
    // In the same form as in connect-es/response.ts, for grpc-js.
    status.set("grpc-message", encodeURI(wire.rawMessage));
    answer(200, Object.fromEntries(status), undefined);
    return;
  }
  if (type.startsWith("application/connect+")) {
    const end = Buffer.from(JSON.stringify(endStreamToJson(new Headers(), wire, undefined)));
    answer(200, { "content-type": type }, envelopeOf(end, endStreamFlag));
    return;
  }
  const body = Buffer.from(JSON.stringify(errorToJson(wire, undefined)));
  answer(httpStatus ?? codeToHttpStatus(wire.code), { "content-type": "application/json" }, body);

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
