import { STATUS_CODES } from "node:http";
import { create, type JsonObject, toJson } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectError } from "@connectrpc/connect";
import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import { RetryInfoSchema } from "../../../../gen/google/rpc/error_details_pb.ts";
import { connectErrorFromInfraError } from "../../errors/connect-error.ts";
import { endResponse, type HttpRequest, type HttpResponse } from "../http/http-exchange.ts";

/** As in grpc-gateway 1.8, which the clients of `cnct.kaas.api` expect (runtime/errors.go, HTTPStatusFromCode). */
const httpStatuses: Readonly<Record<Code, number>> = {
  [Code.InvalidArgument]: 400,
  [Code.OutOfRange]: 400,
  [Code.Unauthenticated]: 401,
  [Code.PermissionDenied]: 403,
  [Code.NotFound]: 404,
  [Code.Canceled]: 408,
  [Code.AlreadyExists]: 409,
  [Code.Aborted]: 409,
  [Code.FailedPrecondition]: 412,
  [Code.ResourceExhausted]: 429,
  [Code.Unknown]: 500,
  [Code.Internal]: 500,
  [Code.DataLoss]: 500,
  [Code.Unimplemented]: 501,
  [Code.Unavailable]: 503,
  [Code.DeadlineExceeded]: 504,
};

/** Returns the status of an error response. */
export function httpStatusOf(error: ConnectError): number {
  return httpStatuses[error.code];
}

/** Returns the headers of an error response that other responses do not have. */
export function errorHeadersOf(error: ConnectError): Record<string, string> {
  // RFC 9110, 15.5.2: a 401 must say how to authenticate.
  const how = error.code === Code.Unauthenticated ? { "www-authenticate": "Bearer" } : {};
  const [delay] = error.findDetails(RetryInfoSchema).flatMap(({ retryDelay }) => retryDelay ?? []);
  const when = delay === undefined ? {} : { "retry-after": String(Math.ceil(durationMs(delay) / 1000)) };
  return { "content-type": "application/json", ...how, ...when };
}

/** Returns the body of an error response: the message under two names, the number of gRPC's code, and the details as JSON. */
export function errorBodyOf(error: ConnectError): JsonObject {
  const { rawMessage: message, code } = error;
  return { error: message, message, code, details: detailsOf(error) };
}

/** Returns the last line of a stream that ended with an error. */
export function streamErrorOf(error: ConnectError): JsonObject {
  const status = httpStatusOf(error);
  return {
    error: {
      grpc_code: error.code,
      http_code: status,
      message: error.rawMessage,
      http_status: STATUS_CODES[status] ?? "",
      details: detailsOf(error),
    },
  };
}

/** Returns each detail as the JSON of a google.protobuf.Any. */
function detailsOf({ details }: ConnectError): JsonObject[] {
  return details.flatMap((detail) => {
    if (!("desc" in detail)) {
      return [];
    }
    const json = toJson(detail.desc, create(detail.desc, detail.value), { useProtoFieldName: true });
    return [{ "@type": `type.googleapis.com/${detail.desc.typeName}`, ...(json as JsonObject) }];
  });
}

/** Refuses a REST request that does not become a call. */
export function refuseRest(
  request: HttpRequest,
  response: HttpResponse,
  error: InfraError,
  headers: Record<string, number | string | string[] | undefined>,
): void {
  const wire = connectErrorFromInfraError(error);
  const body = Buffer.from(JSON.stringify(errorBodyOf(wire)));
  const all = { ...headers, ...errorHeadersOf(wire), "content-length": body.byteLength };
  for (const [name, value] of Object.entries(all)) {
    if (value !== undefined) {
      response.setHeader(name, value);
    }
  }
  response.statusCode = httpStatusOf(wire);
  endResponse(request, response, request.method === "HEAD" ? undefined : body);
}
