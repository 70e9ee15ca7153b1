import { createContextValues, type HandlerContext, type MethodImplSpec } from "@connectrpc/connect";
import {
  createUniversalMethodHandler,
  type UniversalHandler,
  type UniversalHandlerFn,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { createHandlerFactory as createConnectFactory } from "@connectrpc/connect/protocol-connect";
import { createHandlerFactory as createGrpcFactory } from "@connectrpc/connect/protocol-grpc";
import { createHandlerFactory as createGrpcWebFactory } from "@connectrpc/connect/protocol-grpc-web";
import type { Route } from "../../call/router.ts";
import type { Handle } from "../http/serve.ts";
import { compressions } from "../wire/compression.ts";
import { handleGrpcWebText } from "../wire/grpc-web-text.ts";
import { singleOf } from "../wire/single-of.ts";
import { withUnaryErrorReason } from "./error.ts";
import { exchangeFromContext } from "./exchange.ts";
import { connectQueryOf, postFromGet, withEtag } from "./get.ts";
import { withJsonRequests } from "./request.ts";
import { hasStartedKey, requestFactsKey } from "./request-context.ts";
import { explained } from "./response.ts";

/** Creates the handler of a method for Connect, its GET, gRPC and gRPC-Web in binary and text mode. */
export function createConnectEsHandler(route: Route): Handle {
  const isSingle = route.method.methodKind === "unary" || route.method.methodKind === "server_streaming";
  const universal = createUniversalHandler(route);
  const handle: UniversalHandlerFn = isSingle ? withJsonRequests(universal, route) : universal;

  return async (request, facts) => {
    const query = route.rule.get ? connectQueryOf(request) : undefined;
    const known = query === undefined ? facts : { ...facts, query };
    const called = { ...request, contextValues: createContextValues().set(requestFactsKey, known) };
    let answer: UniversalServerResponse;
    if (query !== undefined) {
      answer = await withEtag(await handle(postFromGet(called, query)), request.header.get("if-none-match"));
    } else {
      answer = await (facts.isText === true ? handleGrpcWebText(handle, called) : handle(called));
    }
    return explained(route.method, request, answer);
  };
}

/**
 * Every kind of method is passed to connect-es as a bidirectional stream, which looks the same on the wire. Errors in a request
 * are then found while its call reads it, and get a reason, a log line and metrics like any other error. Only unary Connect has a
 * wire format of its own: there connect-es reads the request first, and `withUnaryErrorReason` corrects its errors.
 */
function createUniversalHandler(route: Route): UniversalHandler {
  const { method, readMaxBytes, writeMaxBytes, jsonOptions } = route;
  const options = { acceptCompression: compressions, readMaxBytes, writeMaxBytes, jsonOptions };

  const stream = (inputs: AsyncIterable<unknown>, context: HandlerContext) =>
    outputsOf(route, context, () => singleOf(inputs), inputs);

  const unary = async (input: unknown, context: HandlerContext): Promise<object> => {
    context.values.set(hasStartedKey, true);
    for await (const output of outputsOf(route, context, async () => input)) {
      return output;
    }
    throw new TypeError(`${method.name} has no answer`);
  };

  const streamSpec = { kind: "bidi_streaming", method, impl: stream } as unknown as MethodImplSpec;
  const unarySpec = { kind: "unary", method, impl: unary } as unknown as MethodImplSpec;
  const connect = createConnectFactory(options);
  const connectHandler =
    method.methodKind === "unary" ? withUnaryErrorReason(connect(unarySpec), route) : connect(streamSpec);
  return createUniversalMethodHandler(streamSpec, [
    createGrpcFactory(options),
    createGrpcWebFactory(options),
    Object.assign(() => connectHandler, { protocolName: connect.protocolName }),
  ]);
}

async function* outputsOf(
  route: Route,
  context: HandlerContext,
  readInput: () => Promise<unknown>,
  inputs?: AsyncIterable<unknown>,
): AsyncGenerator<object, void> {
  const facts = context.values.get(requestFactsKey);
  if (facts === undefined) {
    throw new TypeError("a request of connect-es has no facts");
  }
  const call = route.begin(exchangeFromContext(context, facts, readInput));
  call.endWith(context.signal);
  yield* route.outputs(call, inputs);
}
