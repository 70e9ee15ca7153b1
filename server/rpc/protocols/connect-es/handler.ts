import type { DescMethod } from "@bufbuild/protobuf";
import type { HandlerContext, MethodImplSpec } from "@connectrpc/connect";
import {
  createUniversalMethodHandler,
  type UniversalHandler,
  type UniversalHandlerOptions,
} from "@connectrpc/connect/protocol";
import { createHandlerFactory as createConnectFactory } from "@connectrpc/connect/protocol-connect";
import { createHandlerFactory as createGrpcFactory } from "@connectrpc/connect/protocol-grpc";
import { createHandlerFactory as createGrpcWebFactory } from "@connectrpc/connect/protocol-grpc-web";
import { reachedKey } from "../../call/request-facts.ts";
import { singleOf } from "../wire/single-of.ts";
import { type OnRefused, withUnaryErrorReason } from "./error.ts";
import { withJsonRequests } from "./json-request.ts";

/** The request of a call, read on demand. Reading throws what is wrong with it. */
export interface Inputs {
  /**
   * Reads the one message of a unary or server-streaming call.
   * @throws InfraError REQUEST_CARDINALITY if there is none or more than one; ConnectError for other errors
   */
  single(): Promise<unknown>;
  readonly all: AsyncIterable<unknown>;
}

/** Serves a call of any kind; a unary call yields its one answer. Only ConnectError may be thrown. */
export type Serve = (inputs: Inputs, context: HandlerContext) => AsyncIterable<object>;

/**
 * Creates one handler for Connect, gRPC and gRPC-Web.
 *
 * Every kind of method is passed to connect-es as a bidirectional stream, which looks the same on the wire. Errors in a request
 * are then found while `serve` reads it, and get a reason, a log line and metrics like any other error. Only unary Connect has a
 * wire format of its own: there connect-es reads the request first, and `withUnaryErrorReason` corrects its errors.
 */
export function createProtocolHandler(
  method: DescMethod,
  serve: Serve,
  options: Partial<UniversalHandlerOptions>,
  onRefused: OnRefused = async (_request, _header, error) => error,
): UniversalHandler {
  const stream = (all: AsyncIterable<unknown>, context: HandlerContext) =>
    serve({ single: () => singleOf(all), all }, context);

  const unary = async (input: unknown, context: HandlerContext) => {
    context.values.set(reachedKey, true);
    return answerOf(serve({ single: async () => input, all: nothing() }, context), method);
  };

  const streamSpec = { kind: "bidi_streaming", method, impl: stream } as unknown as MethodImplSpec;
  const unarySpec = { kind: "unary", method, impl: unary } as unknown as MethodImplSpec;
  const connect = createConnectFactory(options);
  const isUnary = method.methodKind === "unary";
  const connectHandler = isUnary ? withUnaryErrorReason(connect(unarySpec), onRefused) : connect(streamSpec);
  const handler = createUniversalMethodHandler(streamSpec, [
    createGrpcFactory(options),
    createGrpcWebFactory(options),
    Object.assign(() => connectHandler, { protocolName: connect.protocolName }),
  ]);
  return isUnary || method.methodKind === "server_streaming"
    ? withJsonRequests(handler, method, {
        readMaxBytes: options.readMaxBytes ?? Number.POSITIVE_INFINITY,
        ignoresUnknownFields: options.jsonOptions?.ignoreUnknownFields === true,
      })
    : handler;
}

async function answerOf(outputs: AsyncIterable<object>, method: DescMethod): Promise<object> {
  for await (const output of outputs) {
    return output;
  }
  throw new TypeError(`${method.name} has no answer`);
}

async function* nothing(): AsyncGenerator<unknown, void> {}
