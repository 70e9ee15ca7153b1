import type {
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Call, LvmdProtocol } from "./call.ts";

type MethodHandler<M extends DescMethod> =
  M extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, call: Call) => Promise<MessageInitShape<O>>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, call: Call) => AsyncIterable<MessageInitShape<O>>
      : M extends DescMethodBiDiStreaming<infer I, infer O>
        ? (requests: AsyncIterable<MessageShape<I>>, call: Call) => AsyncIterable<MessageInitShape<O>>
        : never;

/**
 * The handlers of a service, one for each method by its lowerCamel name. A handler knows no protocol: it gets
 * the request and the call, and throws InfraError. A stream ends itself when `call.signal` is aborted.
 */
export type ServiceHandlers<S extends DescService> = {
  [K in keyof S["method"]]: MethodHandler<S["method"][K]>;
};

/** Any handler, as the router calls it: the method's kind says which shape `input` and the result have. */
export type AnyHandler = (input: unknown, call: Call) => Promise<object> | AsyncIterable<object>;

/** The published forms of a service that is served with the messages of all of them. */
export type ShownServices = Readonly<Record<LvmdProtocol, DescService>>;

/** A service and who answers each of its methods. */
export interface ServiceRegistration {
  readonly service: DescService;
  /** What clients are shown of it, by the listener they come by; `service` itself if absent. */
  readonly shown?: ShownServices;
  handlerOf(method: DescMethod): AnyHandler;
}

/** Registers the handlers of one service; the compiler holds them against the contract. */
export function registerService<S extends DescService>(
  service: S,
  handlers: ServiceHandlers<S>,
  shown?: ShownServices,
): ServiceRegistration {
  const byName = handlers as Record<string, AnyHandler>;
  return {
    service,
    ...(shown === undefined ? {} : { shown }),
    handlerOf(method) {
      const handler = byName[method.localName];
      if (handler === undefined) {
        throw new TypeError(`${service.typeName} has no handler for ${method.name}`);
      }
      return handler;
    },
  };
}

/** Registers a service that refuses every call with the same error, made anew for each. */
export function registerRefusal(
  service: DescService,
  refusal: () => Error,
  shown?: ShownServices,
): ServiceRegistration {
  return {
    service,
    ...(shown === undefined ? {} : { shown }),
    handlerOf: () => async () => {
      throw refusal();
    },
  };
}
