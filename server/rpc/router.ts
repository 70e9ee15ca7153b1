import type { DescMethod } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { type Around, runChain } from "./call.ts";
import { compressions } from "./compression.ts";
import { connectErrorFromInfraError, infraErrorFrom } from "./errors.ts";
import { streamUntilCallEnds, untilCallEnds } from "./guard.ts";
import { callFromHandlerContext, callFromRefusedRequest } from "./handler-call.ts";
import { type MethodRule, methodPathOf } from "./method-rule.ts";
import { createProtocolHandler, type Inputs, type Serve } from "./protocol-handler.ts";
import type { AnyHandler, ServiceRegistration } from "./service-handlers.ts";
import type { OnRefused } from "./unary-error.ts";

export interface RouterOptions {
  readonly registrations: readonly ServiceRegistration[];
  readonly ruleOf: (method: DescMethod) => MethodRule;
  /** What every call passes through, the first outermost. */
  readonly around: readonly Around[];
  /**
   * What is around the handler of a unary call alone. Unlike `around` it goes on to its end when the caller has
   * left or the deadline has passed, as a mutation does.
   */
  readonly aroundWork: Around;
  /** The largest message read or written, in bytes, after decompression. */
  readonly maxMessageBytes: number;
  readonly maxDeadlineMs: number;
  /** Silence on an HTTP/1.1 stream after which a repeatable message is sent again. */
  readonly keepAliveMs: number;
  /** Aborted when the gateway stops; every call then ends with its reason. */
  readonly shutdownSignal: AbortSignal;
}

/** One RPC, ready for requests of every protocol. */
export interface Route {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly rule: MethodRule;
  readonly handle: UniversalHandler;
}

/** With the call path itself, for a protocol that stands beside those. */
export interface ServedRoute extends Route {
  readonly serve: Serve;
}

/** The routes of all registered services, each answering Connect, gRPC and gRPC-Web through one call path. */
export function createRoutes(options: RouterOptions): ServedRoute[] {
  return options.registrations.flatMap((registration) =>
    registration.service.methods.map((method) => {
      const rule = options.ruleOf(method);
      return {
        path: `/${methodPathOf(method)}`,
        rule,
        ...createRouteHandler(method, rule, registration.handlerOf(method), options),
      };
    }),
  );
}

function createRouteHandler(
  method: DescMethod,
  rule: MethodRule,
  handler: AnyHandler,
  options: RouterOptions,
): Pick<ServedRoute, "handle" | "serve"> {
  const isSingle = method.methodKind === "unary" || method.methodKind === "server_streaming";

  async function* serve(inputs: Inputs, context: HandlerContext): AsyncGenerator<object, void> {
    const call = callFromHandlerContext(context, rule, options, inputs.single);
    try {
      const output = await runChain(options.around, call, async () => {
        const input = isSingle ? await call.input() : inputs.all;
        if (method.methodKind === "unary") {
          return untilCallEnds(
            call,
            options.aroundWork(call, async () => handler(input, call)),
          );
        }
        const result = handler(input, call);
        if (Symbol.asyncIterator in result) {
          // Server-sent events have comments for it.
          const hasPing = call.peer.httpVersion === "2.0" || call.protocol === "sse";
          return streamUntilCallEnds(
            call,
            result,
            rule.repeatable && !hasPing ? options.keepAliveMs : undefined,
          );
        }
        return await untilCallEnds(call, result);
      });
      if (Symbol.asyncIterator in output) {
        yield* output;
      } else {
        yield output;
      }
    } catch (error) {
      throw connectErrorFromInfraError(infraErrorFrom(error));
    } finally {
      call.closeSink();
    }
  }

  /** Such a request passes the chain as well: whoever may not call is told that first, and the log has it. */
  const onRefused: OnRefused = async (request, header, error) => {
    const call = callFromRefusedRequest(method, rule, request, header, error);
    try {
      await runChain(options.around, call, () => Promise.reject(error));
    } catch (thrown) {
      return infraErrorFrom(thrown);
    }
    return error;
  };

  const protocolOptions = {
    acceptCompression: compressions,
    readMaxBytes: options.maxMessageBytes,
    writeMaxBytes: options.maxMessageBytes,
    jsonOptions: { ignoreUnknownFields: !rule.mutation },
    shutdownSignal: options.shutdownSignal,
  };
  return { handle: createProtocolHandler(method, serve, protocolOptions, onRefused), serve };
}
