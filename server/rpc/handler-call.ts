import type { DescMethod } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import type { Call } from "./call.ts";
import type { MethodRule } from "./method-rule.ts";
import { requestFactsKey } from "./request-facts.ts";

/**
 * The call of an RPC that connect-es carries.
 * @param maxDeadlineMs the longest a unary call may take, whatever the client allows; streams have no cap
 */
export function callFromHandlerContext(
  context: HandlerContext,
  rule: MethodRule,
  maxDeadlineMs: number,
): Call {
  const { peer, requestId } = context.values.get(requestFactsKey);
  let resource: string | undefined;
  const cap = context.method.methodKind === "unary" ? performance.now() + maxDeadlineMs : undefined;
  return {
    method: context.method,
    rule,
    protocol:
      context.protocolName === "grpc" || context.protocolName === "grpc-web"
        ? context.protocolName
        : "connect",
    peer,
    requestId,
    timeLeftMs() {
      const clientsMs = context.timeoutMs();
      const ownMs = cap === undefined ? undefined : cap - performance.now();
      return clientsMs === undefined ? ownMs : Math.min(clientsMs, ownMs ?? clientsMs);
    },
    signal: context.signal,
    headerNames: () => context.requestHeader.keys(),
    header: (name) => context.requestHeader.get(name) ?? undefined,
    noteResource: (name) => {
      resource = name;
    },
    resource: () => resource,
    setHeader: (name, value) => context.responseHeader.set(name, value),
  };
}

/**
 * The call of a unary Connect request that connect-es refused before it became one, so that the links of the
 * chain (log, limits) see it too.
 * @param header of the answer
 */
export function callFromRefusedRequest(
  method: DescMethod,
  rule: MethodRule,
  request: UniversalServerRequest,
  header: Headers,
): Call {
  const { peer, requestId } = request.contextValues?.get(requestFactsKey) ?? requestFactsKey.defaultValue;
  return {
    method,
    rule,
    protocol: "connect",
    peer,
    requestId,
    timeLeftMs: () => undefined,
    signal: request.signal,
    headerNames: () => request.header.keys(),
    header: (name) => request.header.get(name) ?? undefined,
    noteResource: () => {},
    resource: () => undefined,
    setHeader: (name, value) => header.set(name, value),
  };
}
