import type { DescMethod } from "@bufbuild/protobuf";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Grants } from "../access/grants.ts";
import type { MethodAccess, TouchedResource } from "../access/method-access.ts";
import type { Call, Interceptor, Output } from "../call/call.ts";
import type { Caller, CallerCeiling } from "../call/caller.ts";
import type { InterceptorFor } from "../call/method-interceptors.ts";
import { type MethodRule, methodPathOf } from "../call/method-rule.ts";
import { rpcReasons } from "../reasons.ts";

type GrantedCall = Pick<Call, "caller" | "method" | "rule">;
type AnyAccess = MethodAccess<unknown, object>;

/**
 * Creates the interceptor that refuses calls on resources that no grant of the caller covers, and removes those from responses.
 * Goes around the work of a unary call, and around a stream. Callers whose grants have no bounds pass, except changes of callers
 * with a ceiling, which covers each of several resources.
 */
export function createGrantedResources(accessOf: (method: DescMethod) => MethodAccess | undefined): {
  readonly interceptor: InterceptorFor;
  readonly workInterceptor: InterceptorFor;
} {
  function interceptorOf(method: DescMethod, { role, mutation }: MethodRule): Interceptor | undefined {
    const access = accessOf(method) as AnyAccess | undefined;
    if (role === "anyone" || access === "own") {
      return undefined;
    }
    return (call, next) => {
      const { grants, ceiling } = call.caller;
      const isLimited = grants !== undefined || (ceiling !== undefined && mutation);
      return isLimited ? withinBounds(call, grants, access, next) : next();
    };
  }
  return {
    interceptor: (method, rule) => (method.methodKind === "unary" ? undefined : interceptorOf(method, rule)),
    workInterceptor: (method, rule) =>
      method.methodKind === "unary" ? interceptorOf(method, rule) : undefined,
  };
}

async function withinBounds(
  call: Call,
  grants: Grants | undefined,
  access: Exclude<AnyAccess, "own"> | undefined,
  next: () => Promise<Output>,
): Promise<Output> {
  if (access !== undefined && "shows" in access) {
    return shownOutput(call, access, next);
  }
  const resources = await touchedBy(access, await call.input(), call);
  assertGranted(call, grants, resources);
  assertUnprotected(call, resources);
  call.identify({ ...call.caller, ceiling: boundBy(call, grants, resources) });
  const output = await next();
  const pass = (message: object) => {
    assertGranted(call, call.caller.current().grants, resources);
    return message;
  };
  return Symbol.asyncIterator in output ? mapped(output, pass) : output;
}

/** Removes what the caller may not see, with its grants at the time of each message. */
async function shownOutput(
  call: Call,
  { shows }: Extract<AnyAccess, { shows: unknown }>,
  next: () => Promise<Output>,
): Promise<Output> {
  const request = await call.input();
  call.noteFiltered();
  const shown = (response: object) => {
    const { grants } = call.caller.current();
    return shows(response, (resource) => isGranted(call, grants, resource), request, call);
  };
  const output = await next();
  return Symbol.asyncIterator in output ? mapped(output, shown) : shown(output);
}

/**
 * Refuses a request of another method that the call makes or plans, as the method's own call would.
 * @param access that of the method
 * @throws InfraError NOT_GRANTED, BEYOND_CEILING, and the errors of `touches`
 */
export async function assertRequestGranted(
  call: Call,
  { method, rule, access }: GrantedMethod,
  request: object,
): Promise<void> {
  const { grants, ceiling } = call.caller.current();
  if (grants !== undefined || ceiling !== undefined) {
    const touches =
      access === undefined || access === "own" || "shows" in access ? undefined : (access as Touches);
    const resources = await touchedBy(touches, request, call);
    const planned = { caller: call.caller, method, rule };
    assertGranted(planned, grants, resources);
    assertUnprotected(planned, resources);
  }
}

/** Refuses what no grant of the caller covers. @throws InfraError NOT_GRANTED */
export function assertResourcesGranted(call: GrantedCall, resources: readonly string[]): void {
  assertGranted(call, call.caller.current().grants, resources.map(touchedResource));
}

/** A method that a call is about. */
export interface GrantedMethod {
  readonly method: DescMethod;
  readonly rule: MethodRule;
  readonly access: MethodAccess | undefined;
}

type Touches = Extract<AnyAccess, { touches: unknown }>;

/** A method whose resources cannot be determined may touch all. */
async function touchedBy(
  access: Touches | undefined,
  request: unknown,
  call: Call,
): Promise<readonly TouchedResource[]> {
  const touched = access === undefined ? ["all"] : await access.touches(request, call);
  return touched.map((each) => (typeof each === "string" ? touchedResource(each) : each));
}

function touchedResource(resource: string): TouchedResource {
  return { resource, named: resource };
}

/** Also refuses a change of a resource that `touches` has not returned. */
function boundBy(call: Call, grants: Grants | undefined, touched: readonly TouchedResource[]): CallerCeiling {
  const { ceiling } = call.caller;
  return {
    assertMethod: (methodPath) => ceiling?.assertMethod(methodPath),
    assertResource(resource) {
      ceiling?.assertResource(resource);
      // A change of several resources notes what they have in common.
      const parts = touched.filter((each) => each.resource.startsWith(`${resource}/`));
      for (const part of parts) {
        ceiling?.assertResource(part.resource);
      }
      if (parts.length === 0) {
        assertGranted(call, grants, touched[0]?.resource === "all" ? touched : [touchedResource(resource)]);
      }
    },
  };
}

/** @throws InfraError NOT_GRANTED */
function assertGranted(
  call: GrantedCall,
  grants: Grants | undefined,
  touched: readonly TouchedResource[],
): void {
  const refused = touched.find(({ resource }) => !isGranted(call, grants, resource));
  if (refused !== undefined) {
    throw notGranted(call.caller, methodPathOf(call.method), refused.named);
  }
}

/** Refuses a change of any resource that the caller's ceiling protects. @throws InfraError BEYOND_CEILING */
function assertUnprotected({ caller, rule }: GrantedCall, touched: readonly TouchedResource[]): void {
  for (const { resource } of rule.mutation ? touched : []) {
    // `all` stands for resources that the request does not name: the change notes them.
    if (resource !== "all") {
      caller.ceiling?.assertResource(resource);
    }
  }
}

function isGranted(
  { method, rule: { role } }: GrantedCall,
  grants: Grants | undefined,
  resource: string,
): boolean {
  const use = { methodPath: methodPathOf(method), role, host: "here", resource } as const;
  return grants === undefined || grants.allowing(use) !== undefined;
}

/** Returns the error of a call on a resource, or with `all` on what a request does not name. */
export function notGranted(
  { actor }: Pick<Caller, "actor">,
  methodPath: string,
  resource: string,
): InfraError {
  const message =
    resource === "all"
      ? `${methodPath} needs a grant of ${actor} that covers all resources on this host`
      : `no grant of ${actor} covers ${resource} for ${methodPath}`;
  return new InfraError(rpcReasons.NOT_GRANTED, message, resource === "all" ? {} : { resource });
}

async function* mapped(
  messages: AsyncIterable<object>,
  shown: (message: object) => object,
): AsyncGenerator<object, void> {
  for await (const message of messages) {
    yield shown(message);
  }
}
