import type { DescMethod, JsonReadOptions, JsonWriteOptions, Registry } from "@bufbuild/protobuf";
import { wireErrorFrom } from "../errors/wire-error.ts";
import { type CallPath, createCallPath } from "./call-path.ts";
import type { Exchange } from "./exchange.ts";
import type { ListenerFacts } from "./listener-facts.ts";
import { chargeLoopTime } from "./loop-time.ts";
import type { InterceptorsFor } from "./method-interceptors.ts";
import { type MethodRule, methodPathOf } from "./method-rule.ts";
import type { OpenCalls } from "./open-calls.ts";
import { RoutedCall } from "./routed-call.ts";
import type { ServiceRegistration } from "./service-handlers.ts";

export interface RouterOptions {
  readonly registrations: readonly ServiceRegistration[];
  readonly ruleOf: (method: DescMethod) => MethodRule;
  readonly interceptorsFor: InterceptorsFor;
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
export interface Route extends CallPath {
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
   * Runs a call, and yields its one answer or the messages of its stream. Closes the call at the end.
   * @throws ConnectError, to be sent to the client
   */
  outputs(call: RoutedCall, inputs?: AsyncIterable<unknown>): AsyncGenerator<object, void>;
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
  const interceptors = options.interceptorsFor(method, rule);
  const path = createCallPath(method, rule, interceptors, handlerOf(method), options.keepAliveMs);
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
    ...path,
    async *outputs(call, inputs) {
      try {
        const output = await path.run(call, inputs);
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
