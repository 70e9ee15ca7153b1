import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Exchange } from "../../call/exchange.ts";
import type { RequestFacts } from "../../call/request-facts.ts";
import { requestHeadersOf, responseHeadersOf } from "../http/exchange-headers.ts";

/** Values of `HandlerContext.protocolName`. */
const protocolNames = ["connect", "grpc", "grpc-web"] as const;

/**
 * Creates the exchange of an RPC that connect-es carries.
 * @param readInput reads the one message of the request
 */
export function exchangeFromContext(
  context: HandlerContext,
  facts: RequestFacts,
  readInput: () => Promise<unknown>,
): Exchange {
  const { requestHeader, responseHeader } = context;
  const isJson = /\+json\b/i.test(requestHeader.get("content-type") ?? "");
  return {
    method: context.method,
    protocol: protocolNames.find((name) => name === context.protocolName) ?? "connect",
    codec: facts.isText === true ? "text" : isJson ? "json" : "binary",
    facts,
    ...requestHeadersOf(requestHeader),
    ...responseHeadersOf(responseHeader),
    appendTrailer: (name, value) => context.responseTrailer.append(name, value),
    timeLeftMs: () => context.timeoutMs(),
    readInput: readInput as () => Promise<Message>,
  };
}

/**
 * Creates the exchange of a unary Connect request that connect-es refused before a call began, so that interceptors (log, limits)
 * see it too.
 * @param header of the answer
 * @param error why connect-es refused it
 */
export function exchangeFromRefused(
  method: DescMethod,
  request: UniversalServerRequest,
  facts: RequestFacts,
  header: Headers,
  error: InfraError,
): Exchange {
  return {
    method,
    protocol: "connect",
    codec: "json",
    facts,
    ...requestHeadersOf(request.header),
    ...responseHeadersOf(header),
    appendTrailer: () => {},
    timeLeftMs: () => undefined,
    readInput: () => Promise.reject(error),
  };
}
