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
 * The handlers of a service, one for each method by its lowerCamel name. A handler is independent of protocols: it gets the
 * request and the call, and throws InfraError. A stream must end when `call.signal` is aborted.
 */
export type ServiceHandlers<S extends DescService> = {
  [K in keyof S["method"]]: MethodHandler<S["method"][K]>;
};

/** Any handler, as called by the router. The method's kind determines the types of `input` and the result. */
export type AnyHandler = (input: unknown, call: Call) => Promise<object> | AsyncIterable<object>;

/** The published forms of a service. It is served with the messages of all of them. */
export type ShownServices = Readonly<Record<LvmdProtocol, DescService>>;

/** A service and the handlers of its methods. */
export interface ServiceRegistration {
  readonly service: DescService;
  /** The forms that clients see, by listener; `service` itself if absent. */
  readonly shown?: ShownServices;
  handlerOf(method: DescMethod): AnyHandler;
}

/** Registers the handlers of one service. The compiler checks them against the contract. */
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

/** Registers a service that refuses every call with the error that `refusal` creates. */
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
