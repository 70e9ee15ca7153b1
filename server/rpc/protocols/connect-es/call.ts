import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Call } from "../../call/call.ts";
import type { Exchange } from "../../call/exchange.ts";
import type { MethodRule } from "../../call/method-rule.ts";
import { requestFactsKey } from "../../call/request-facts.ts";
import { type CallLimits, endWith, RoutedCall } from "../../call/routed-call.ts";
import type { Codec } from "../../streams/shared-message.ts";

/** Values of `HandlerContext.protocolName`. */
const protocolNames = ["connect", "grpc", "grpc-web", "rest", "sse"] as const;

/**
 * Creates the call of an RPC that connect-es carries.
 * @param readInput reads the one message of the request
 */
export function callFromHandlerContext(
  context: HandlerContext,
  rule: MethodRule,
  limits: CallLimits,
  readInput: () => Promise<unknown>,
): RoutedCall {
  const { requestHeader, responseHeader } = context;
  const protocol = protocolNames.find((name) => name === context.protocolName) ?? "connect";
  const facts = context.values.get(requestFactsKey);
  const exchange: Exchange = {
    method: context.method,
    protocol,
    codec: facts.isText === true ? "text" : codecOf(protocol, requestHeader),
    facts,
    ...requestHeadersOf(requestHeader),
    setHeader: (name, value) => responseHeader.set(name, value),
    appendHeader: (name, value) => responseHeader.append(name, value),
    appendTrailer: (name, value) => context.responseTrailer.append(name, value),
    query: () => (context.requestMethod === "GET" ? new URL(context.url).searchParams : undefined),
    timeLeftMs: () => context.timeoutMs(),
    readInput: readInput as () => Promise<Message>,
  };
  const call = new RoutedCall(exchange, rule, limits);
  call.armDeadline();
  endWith(call, context.signal);
  return call;
}

/**
 * Creates a call for a unary Connect request that connect-es refused before creating one, so that interceptors (log, limits) see
 * it too.
 * @param header of the answer
 * @param error why connect-es refused it
 */
export function callFromRefusedRequest(
  method: DescMethod,
  rule: MethodRule,
  request: UniversalServerRequest,
  header: Headers,
  error: InfraError,
): RoutedCall {
  const exchange: Exchange = {
    method,
    protocol: "connect",
    codec: "json",
    facts: request.contextValues?.get(requestFactsKey) ?? requestFactsKey.defaultValue,
    ...requestHeadersOf(request.header),
    setHeader: (name, value) => header.set(name, value),
    appendHeader: (name, value) => header.append(name, value),
    appendTrailer: () => {},
    query: () => undefined,
    timeLeftMs: () => undefined,
    readInput: () => Promise.reject(error),
  };
  return new RoutedCall(exchange, rule, { maxDeadlineMs: Number.POSITIVE_INFINITY, maxMessageBytes: 0 });
}

function requestHeadersOf(header: Headers): Pick<Exchange, "header" | "headerNames"> {
  return { header: (name) => header.get(name) ?? undefined, headerNames: () => header.keys() };
}

function codecOf(protocol: Call["protocol"], header: Headers): Codec {
  if (protocol === "sse") {
    return "sse";
  }
  return /\+json\b/i.test(header.get("content-type") ?? "") ? "json" : "binary";
}
