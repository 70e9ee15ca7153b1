import { Code, ConnectError } from "@connectrpc/connect";
import {
  readAllBytes,
  type UniversalHandler,
  type UniversalServerRequest,
} from "@connectrpc/connect/protocol";
import { codeToHttpStatus, errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import type { RequestFacts } from "../../call/request-facts.ts";
import type { Route } from "../../call/router.ts";
import { connectErrorFromInfraError } from "../../errors/connect-error.ts";
import { infraErrorFromProtocolError } from "../../errors/protocol-error.ts";
import { compressions } from "../wire/compression.ts";
import { connectErrorBody } from "../wire/connect-end.ts";
import { exchangeFromRefused } from "./exchange.ts";
import { hasStartedKey, requestFactsKey } from "./request-context.ts";

/** Bounds the buffer; no error of connect-es is nearly as large. */
const errorMaxBytes = 1 << 20;

/**
 * Adds a reason to the errors that connect-es returns for a unary Connect request before its call begins: a body that cannot be
 * decoded, is too large, or has an unknown compression. Such requests pass the interceptors too.
 */
export function withUnaryErrorReason(handler: UniversalHandler, route: Route): UniversalHandler {
  const handle = async (request: UniversalServerRequest) => {
    const answer = await handler(request);
    const facts = request.contextValues?.get(requestFactsKey);
    const isOurs = answer.status === 200 || request.contextValues?.get(hasStartedKey) === true;
    const isError = answer.header?.get("content-type") === "application/json";
    if (isOurs || facts === undefined || answer.body === undefined || !isError) {
      return answer;
    }
    const header = new Headers(answer.header);
    const error = await errorOf(answer.body, header);
    const wire = connectErrorFromInfraError(
      await refusalOf(route, request, facts, header, error),
      facts.peer.errorDetails,
    );
    const body = connectErrorBody(wire);
    header.delete("content-encoding");
    header.set("content-length", String(body.byteLength));
    return { ...answer, status: codeToHttpStatus(wire.code), header, body: onceOf(body) };
  };
  const { protocolNames, service, method, requestPath, allowedMethods, supportedContentType } = handler;
  return Object.assign(handle, {
    protocolNames,
    service,
    method,
    requestPath,
    allowedMethods,
    supportedContentType,
  });
}

async function errorOf(body: AsyncIterable<Uint8Array>, header: Headers): Promise<InfraError> {
  const sent = new Uint8Array(await readAllBytes(body, errorMaxBytes));
  const compression = compressions.find(({ name }) => name === header.get("content-encoding"));
  const bytes = compression === undefined ? sent : await compression.decompress(sent, errorMaxBytes);
  const error = errorFromJsonBytes(bytes, header, new ConnectError("", Code.Internal));
  // connect-es hides an error that is not its own: that of a body whose sender has left.
  return error.rawMessage === "internal error"
    ? new InfraError(hostReasons.CALLER_LEFT, "the caller left before the request was complete")
    : infraErrorFromProtocolError(error);
}

function refusalOf(
  route: Route,
  request: UniversalServerRequest,
  facts: RequestFacts,
  header: Headers,
  error: InfraError,
): Promise<InfraError> {
  const exchange = exchangeFromRefused(route.method, request, facts, header, error);
  return route.refuse(route.begin(exchange), error);
}

async function* onceOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}
