import type { DescMethod, Registry } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { infraErrorFrom } from "../errors/connect-error.ts";
import { wireErrorFrom } from "../errors/wire-error.ts";
import { callFromHandlerContext, callFromRefusedRequest } from "../protocols/connect-es/call.ts";
import type { OnRefused } from "../protocols/connect-es/error.ts";
import { createProtocolHandler, type Inputs, type Serve } from "../protocols/connect-es/handler.ts";
import { createDirectHandler, type DirectHandler } from "../protocols/direct/direct-handler.ts";
import { compressions } from "../protocols/wire/compression.ts";
import { type Output, runChain } from "./call.ts";
import { createChangeEffect } from "./change-effect.ts";
import type { ListenerFacts } from "./listener-facts.ts";
import { chargeLoopTime } from "./loop-time.ts";
import type { LinksFor } from "./method-interceptors.ts";
import { type MethodRule, methodPathOf } from "./method-rule.ts";
import type { OpenCalls } from "./open-calls.ts";
import { RoutedCall } from "./routed-call.ts";
import type { AnyHandler, ServiceRegistration } from "./service-handlers.ts";
import { streamUntilCallEnds, untilCallEnds } from "./until-call-ends.ts";

export interface RouterOptions {
  readonly registrations: readonly ServiceRegistration[];
  readonly ruleOf: (method: DescMethod) => MethodRule;
  readonly linksFor: LinksFor;
  /** The largest message read or written, in bytes, after decompression. */
  readonly maxMessageBytes: number;
  /** Largest message written, in bytes; `maxMessageBytes` if absent. The conformance suite limits only what is read. */
  readonly maxAnswerBytes?: number;
  readonly maxDeadlineMs: number;
  /** Silence on an HTTP/1.1 stream after which a repeatable message is repeated. */
  readonly keepAliveMs: number;
  /** Aborted when the gateway stops; every call then ends with its reason. */
  readonly shutdownSignal: AbortSignal;
  /** Tracks calls that are answered without connect-es; undefined when connect-es answers all calls. */
  readonly openCalls: OpenCalls | undefined;
  /** Types that a `google.protobuf.Any` may hold in JSON. Absent: none, as in the gateway's own contract. */
  readonly registry?: Registry;
}

/** One RPC, ready for requests of every protocol. */
export interface Route {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly rule: MethodRule;
  /** Returns the method as clients of a listener see it; undefined if the service's form on that listener lacks it. */
  shownOn(listener: Pick<ListenerFacts, "lvmd">): DescMethod | undefined;
  /** The largest message read, in bytes, after decompression. */
  readonly readMaxBytes: number;
  readonly handle: UniversalHandler;
  /** Answers the requests that it can read; `handle` answers the others. Undefined if connect-es answers all of them. */
  readonly direct: DirectHandler | undefined;
}

/** A route with direct access to the call path, for further protocols (REST, server-sent events). */
export interface ServedRoute extends Route {
  readonly serve: Serve;
}

/** Creates the routes of all registered services. Each answers Connect, gRPC and gRPC-Web through one call path. */
export function createRoutes(options: RouterOptions): ServedRoute[] {
  return options.registrations.flatMap((registration) =>
    registration.service.methods.map((method) => {
      const rule = options.ruleOf(method);
      return {
        path: `/${methodPathOf(method)}`,
        rule,
        shownOn: ({ lvmd }: Pick<ListenerFacts, "lvmd">) =>
          (registration.shown?.[lvmd] ?? registration.service).methods.find(
            ({ name }) => name === method.name,
          ),
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
): Pick<ServedRoute, "readMaxBytes" | "handle" | "serve" | "direct"> {
  const { around, aroundWork } = options.linksFor(method, rule);
  const isUnaryChange = method.methodKind === "unary" && rule.mutation;
  const isSingle = method.methodKind === "unary" || method.methodKind === "server_streaming";

  /** Runs the call path, which all protocols share. */
  function answer(call: RoutedCall, inputs: AsyncIterable<unknown> | undefined): Promise<Output> {
    return isUnaryChange ? answerChange(call) : runChain(around, call, () => answerAdmitted(call, inputs));
  }

  function answerChange(call: RoutedCall): Promise<Output> {
    const effect = createChangeEffect();
    return effect.aroundCall(() =>
      runChain(around, call, async () => {
        const input = await call.input();
        chargeLoopTime(call);
        const work = runChain(aroundWork, call, () => effect.aroundHandler(async () => handler(input, call)));
        return untilCallEnds(call, work, effect.asLeft);
      }),
    );
  }

  async function answerAdmitted(
    call: RoutedCall,
    inputs: AsyncIterable<unknown> | undefined,
  ): Promise<Output> {
    const input = isSingle ? await call.input() : counted(inputs, call);
    chargeLoopTime(call);
    if (method.methodKind === "unary") {
      return untilCallEnds(
        call,
        runChain(aroundWork, call, async () => handler(input, call)),
      );
    }
    const result = handler(input, call);
    if (Symbol.asyncIterator in result) {
      // Server-sent events use comments instead.
      const hasPing = call.peer.httpVersion === "2.0" || call.protocol === "sse";
      return streamUntilCallEnds(call, result, rule.repeatable && !hasPing ? options.keepAliveMs : undefined);
    }
    return await untilCallEnds(call, result);
  }

  async function* serve(inputs: Inputs, context: HandlerContext): AsyncGenerator<object, void> {
    const call = callFromHandlerContext(context, rule, options, inputs.single);
    try {
      const output = await answer(call, inputs.all);
      if (Symbol.asyncIterator in output) {
        for await (const message of output) {
          chargeLoopTime(call);
          yield message;
        }
      } else {
        chargeLoopTime(call);
        yield output;
      }
    } catch (error) {
      throw wireErrorFrom(error, call);
    } finally {
      call.close();
    }
  }

  /**
   * A refused request passes the chain too, so that a caller without permission gets that error first, and the log has a line.
   */
  const onRefused: OnRefused = async (request, header, error) => {
    const call = callFromRefusedRequest(method, rule, request, header, error);
    const refuse = () => runChain(around, call, () => Promise.reject(error));
    try {
      await (isUnaryChange ? createChangeEffect().aroundCall(refuse) : refuse());
    } catch (thrown) {
      return infraErrorFrom(thrown);
    } finally {
      call.close();
    }
    return error;
  };

  const { maxMessageBytes, maxAnswerBytes = maxMessageBytes, shutdownSignal, openCalls } = options;
  const readMaxBytes = Math.min(maxMessageBytes, rule.maxRequestBytes ?? maxMessageBytes);
  const { registry } = options;
  const jsonOptions = {
    ignoreUnknownFields: !rule.mutation,
    ...(registry === undefined ? {} : { registry }),
  };
  const protocolOptions = {
    acceptCompression: compressions,
    readMaxBytes,
    writeMaxBytes: maxAnswerBytes,
    jsonOptions,
    shutdownSignal,
  };
  const direct =
    openCalls === undefined || !isSingle
      ? undefined
      : createDirectHandler({
          method,
          readMaxBytes,
          writeMaxBytes: maxAnswerBytes,
          jsonOptions,
          isShared: method.methodKind === "unary" ? rule.cache : !rule.secrets,
          isState: rule.repeatable,
          openCalls,
          begin: (exchange) => new RoutedCall(exchange, rule, options),
          run: (call) => answer(call, undefined),
          wireErrorFrom,
        });
  const handle = createProtocolHandler(method, serve, protocolOptions, onRefused);
  return { readMaxBytes, handle, serve, direct };
}

/** Yields the messages of a request stream and counts each as a call. @throws InfraError CALLER_LIMIT */
async function* counted(
  messages: AsyncIterable<unknown> | undefined,
  call: RoutedCall,
): AsyncGenerator<unknown, void> {
  for await (const message of messages ?? []) {
    call.countMessage();
    chargeLoopTime(call);
    yield message;
  }
}
