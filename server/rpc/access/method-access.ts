import type {
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Call } from "../call/call.ts";

/** Reports whether the caller may see a resource. */
export type SeesResource = (resource: string) => boolean;

/** A resource that a request concerns. */
export interface TouchedResource {
  readonly resource: string;
  /** The resource as the request names it, such as by a prefix. A refusal names this one. */
  readonly named: string;
}

/**
 * What the calls of a method concern, for callers whose grants have bounds. A method without it needs a grant that covers all
 * resources.
 *
 * - `touches`: the resources that a request names. Each must be granted, whether or not it exists, so that a refusal does not reveal
 *   which exist. It changes nothing.
 * - `shows`: returns the response, which it must not modify, without the resources that the caller may not see.
 * - `own`: the calls concern the caller itself, or the handler checks what the caller may see.
 */
export type MethodAccess<Request = never, Response = never> =
  | { readonly touches: (request: Request, call: Call) => Touched | Promise<Touched> }
  | { readonly shows: (response: Response, sees: SeesResource, request: Request, call: Call) => Response }
  | "own";

type Touched = readonly (string | TouchedResource)[];

type AccessOf<M extends DescMethod> =
  M extends DescMethodUnary<infer I, infer O>
    ? MethodAccess<MessageShape<I>, MessageInitShape<O>>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? MethodAccess<MessageShape<I>, MessageInitShape<O>>
      : MethodAccess;

/** The access of a service's methods, by their lowerCamel names. */
export type ServiceAccess<S extends DescService> = {
  readonly [K in keyof S["method"]]?: AccessOf<S["method"][K]>;
};

/** A service and the access of its methods. */
export interface AccessRegistration {
  readonly service: DescService;
  accessOf(method: DescMethod): MethodAccess | undefined;
}

/** Registers the access of a service's methods. The compiler checks them against the contract. */
export function registerAccess<S extends DescService>(
  service: S,
  methods: ServiceAccess<S>,
): AccessRegistration {
  const byName = methods as Readonly<Record<string, MethodAccess>>;
  return { service, accessOf: ({ localName }) => byName[localName] };
}

/** Returns the function that finds the access of any method. */
export function createAccessOf(
  registrations: readonly AccessRegistration[],
): (method: DescMethod) => MethodAccess | undefined {
  const byService = new Map(registrations.map((one) => [one.service.typeName, one]));
  return (method) => byService.get(method.parent.typeName)?.accessOf(method);
}
