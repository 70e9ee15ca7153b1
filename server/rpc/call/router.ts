import type { DescMethod, JsonReadOptions, JsonWriteOptions, Registry } from "@bufbuild/protobuf";
import type { InfraError } from "../../../adapters/host/infra-error.ts";
import { infraErrorFrom } from "../errors/connect-error.ts";
import { wireErrorFrom } from "../errors/wire-error.ts";
import { type Output, runChain } from "./call.ts";
import { createChangeEffect } from "./change-effect.ts";
import type { Exchange } from "./exchange.ts";
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
  /** Ends every call when the gateway stops. */
  readonly openCalls: OpenCalls;
  /** Types that a `google.protobuf.Any` may hold in JSON. Absent: none, as in the gateway's own contract. */
  readonly registry?: Registry;
}

/** One RPC. Every protocol reads its requests into exchanges, and answers them with the outputs of a call. */
export interface Route {
  readonly method: DescMethod;
  /** `/package.Service/Method` */
  readonly path: string;
  readonly rule: MethodRule;
  /** Returns the method as clients of a listener see it; undefined if the service's form on that listener lacks it. */
  shownOn(listener: Pick<ListenerFacts, "lvmd">): DescMethod | undefined;
  /** The largest message read and the largest one written, in bytes, before compression. */
  readonly readMaxBytes: number;
  readonly writeMaxBytes: number;
  readonly jsonOptions: Partial<JsonReadOptions & JsonWriteOptions>;
  /** Begins a call. Its protocol has to close it. */
  begin(exchange: Exchange): RoutedCall;
  /**
   * Runs the interceptors and the handler. An exception, now or while messages of the output are read, ends the call.
   * @param inputs the messages of a request stream; a single message is read by the exchange
   */
  run(call: RoutedCall, inputs?: AsyncIterable<unknown>): Promise<Output>;
  /**
   * Runs a call, and yields its one answer or the messages of its stream. Closes the call at the end.
   * @throws ConnectError, to be sent to the client
   */
  outputs(call: RoutedCall, inputs?: AsyncIterable<unknown>): AsyncGenerator<object, void>;
  /**
   * Passes a call whose request is refused through the interceptors, so that a caller without permission gets that error instead,
   * and the log has a line. Closes the call. Returns the error to send.
   */
  refuse(call: RoutedCall, error: InfraError): Promise<InfraError>;
}

/** Creates the routes of all registered services. */
export function createRoutes(options: RouterOptions): Route[] {
  return options.registrations.flatMap((registration) =>
    registration.service.methods.map((method) => createRoute(method, registration, options)),
  );
}

function createRoute(
  method: DescMethod,
  { service, shown, handlerOf }: ServiceRegistration,
  options: RouterOptions,
): Route {
  const { maxMessageBytes, maxAnswerBytes = maxMessageBytes, registry } = options;
  const rule = options.ruleOf(method);
  const runner = createRunner(method, rule, handlerOf(method), options);
  return {
    method,
    path: `/${methodPathOf(method)}`,
    rule,
    shownOn: ({ lvmd }) => (shown?.[lvmd] ?? service).methods.find(({ name }) => name === method.name),
    readMaxBytes: Math.min(maxMessageBytes, rule.maxRequestBytes ?? maxMessageBytes),
    writeMaxBytes: maxAnswerBytes,
    jsonOptions: { ignoreUnknownFields: !rule.mutation, ...(registry === undefined ? {} : { registry }) },
    begin(exchange) {
      const call = new RoutedCall(exchange, rule, options);
      call.open();
      chargeLoopTime(call);
      return call;
    },
    ...runner,
    async *outputs(call, inputs) {
      try {
        const output = await runner.run(call, inputs);
        if (!(Symbol.asyncIterator in output)) {
          chargeLoopTime(call);
          yield output;
          return;
        }
        for await (const message of output) {
          chargeLoopTime(call);
          yield message;
        }
      } catch (error) {
        throw wireErrorFrom(error, call);
      } finally {
        call.close();
      }
    },
  };
}

/** Creates the path of a method's calls, which all protocols share. */
function createRunner(
  method: DescMethod,
  rule: MethodRule,
  handler: AnyHandler,
  options: RouterOptions,
): Pick<Route, "run" | "refuse"> {
  const { around, aroundWork } = options.linksFor(method, rule);
  const isUnary = method.methodKind === "unary";
  const isUnaryChange = isUnary && rule.mutation;
  const isSingle = isUnary || method.methodKind === "server_streaming";

  function runChange(call: RoutedCall): Promise<Output> {
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

  async function runAdmitted(call: RoutedCall, inputs: AsyncIterable<unknown> | undefined): Promise<Output> {
    const input = isSingle ? await call.input() : counted(inputs, call);
    chargeLoopTime(call);
    if (isUnary) {
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

  return {
    run: (call, inputs) =>
      isUnaryChange ? runChange(call) : runChain(around, call, () => runAdmitted(call, inputs)),
    async refuse(call, error) {
      const refuse = () => runChain(around, call, () => Promise.reject(error));
      try {
        await (isUnaryChange ? createChangeEffect().aroundCall(refuse) : refuse());
      } catch (thrown) {
        return infraErrorFrom(thrown);
      } finally {
        call.close();
      }
      return error;
    },
  };
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
