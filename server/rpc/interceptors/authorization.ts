import type { DescMethod } from "@bufbuild/protobuf";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { includesRole } from "../access/caller-role.ts";
import type { Call, Interceptor, Output } from "../call/call.ts";
import type { Caller } from "../call/caller.ts";
import type { InterceptorFor } from "../call/method-interceptors.ts";
import { type MethodRule, methodPathOf } from "../call/method-rule.ts";
import { infraErrorFrom } from "../errors/connect-error.ts";
import { rpcReasons } from "../reasons.ts";

/**
 * Identifies the caller by the credentials of the call and by its listener; synchronously if nothing has to be awaited. Rejects
 * with an InfraError with an UNAUTHENTICATED reason if the given credentials are not accepted.
 */
export type Authenticate = (call: Call) => Caller | Promise<Caller>;

/** How often the permissions of open streams are checked again; the documented limit is five seconds. */
const recheckMs = 1000;

/**
 * Creates the interceptor that identifies the caller and refuses calls that it may not make. A stream whose caller loses its
 * permission (logout, revocation, expiry, a lesser role) is ended with the reason within two seconds.
 * @param onDenied called with each call that is refused here; an exception it throws is returned to the caller instead
 */
export function createAuthorization(
  authenticate: Authenticate,
  onDenied: (call: Call) => void,
): InterceptorFor {
  const streams = new Set<Call>();
  let timer: NodeJS.Timeout | undefined;

  function recheck(): void {
    for (const call of streams) {
      try {
        const current = call.caller.current();
        assertAllowed(current, call.method, call.rule);
        assertSameBounds(call, current);
      } catch (error) {
        streams.delete(call);
        call.end(infraErrorFrom(error));
      }
    }
    if (streams.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  }

  function watch(call: Call): void {
    streams.add(call);
    timer ??= setInterval(recheck, recheckMs).unref();
  }

  function admit(call: Call, caller: Caller, next: () => Promise<Output>): Promise<Output> {
    call.identify(caller);
    try {
      assertAllowed(caller, call.method, call.rule);
    } catch (error) {
      onDenied(call);
      throw error;
    }
    return call.method.methodKind === "unary" ? next() : endWhenDenied(call, next);
  }

  async function endWhenDenied(call: Call, next: () => Promise<Output>): Promise<Output> {
    watch(call);
    try {
      const output = await next();
      if (Symbol.asyncIterator in output) {
        call.onStreamEnd(() => void streams.delete(call));
      } else {
        streams.delete(call);
      }
      return output;
    } catch (error) {
      streams.delete(call);
      throw error;
    }
  }

  function intercept(call: Call, next: () => Promise<Output>): Promise<Output> {
    const found = authenticate(call);
    if (!(found instanceof Promise)) {
      return admit(call, found, next);
    }
    return found.then(
      (caller) => admit(call, caller, next),
      (error) => {
        onDenied(call);
        throw error;
      },
    );
  }

  return (_method, rule) => (rule.role === "anyone" ? undefined : intercept);
}

/**
 * Ends a stream that cannot follow a change of what its caller may do: one that began without bounds is not filtered, and a host
 * of the fleet filters by what the hub sent when the stream began.
 * @throws InfraError ACCESS_CHANGED
 */
function assertSameBounds({ caller, method, fleetHost }: Call, current: Caller): void {
  const { actor, grants } = current;
  const isUnfiltered = caller.grants === undefined && grants !== undefined;
  if (isUnfiltered || (fleetHost !== undefined && !hasSameAccess(caller, current))) {
    const message = `what ${actor} may do has changed; call ${methodPathOf(method)} again`;
    throw new InfraError(rpcReasons.ACCESS_CHANGED, message);
  }
}

type Access = Pick<Caller, "role" | "services" | "grants">;

function hasSameAccess(one: Access, other: Access): boolean {
  const isSame = one.services === other.services && one.grants === other.grants;
  return one.role === other.role && (isSame || accessText(one) === accessText(other));
}

/** An account that was changed in another way has other objects with the same content. */
function accessText({ services, grants }: Access): string {
  return JSON.stringify([services === undefined ? null : [...services].toSorted(), grants?.list ?? null]);
}

/**
 * Interceptor before the work of a unary call. Over gRPC a call begins with its headers, and its message may arrive a minute
 * later, so the caller's permission is checked again.
 * @throws InfraError as `Caller.current` and `assertAllowed` do
 */
export const recheckPermission: InterceptorFor = (_method, rule) =>
  rule.role === "anyone" ? undefined : assertStillAllowed;

const assertStillAllowed: Interceptor = (call, next) => {
  call.identify(call.caller.current());
  assertAllowed(call.caller, call.method, call.rule);
  return next();
};

/**
 * Refuses callers that may not call a method.
 * @throws InfraError LOGIN_REQUIRED, ROLE_REQUIRED (the message names the role), SERVICE_NOT_ALLOWED, NOT_GRANTED, and those of
 * the caller's ceiling
 */
export function assertAllowed(caller: Caller, method: DescMethod, rule: MethodRule): void {
  if (rule.role === "anyone") {
    return;
  }
  if (caller.role === undefined) {
    throw new InfraError(rpcReasons.LOGIN_REQUIRED, `${methodPathOf(method)} needs a login; ${howToLogIn}`);
  }
  if (!includesRole(caller.role, rule.role)) {
    const message = `${methodPathOf(method)} needs the role ${rule.role}; ${caller.actor} has the role ${caller.role}`;
    throw new InfraError(rpcReasons.ROLE_REQUIRED, message);
  }
  caller.ceiling?.assertMethod(methodPathOf(method));
  assertMethodGranted(caller, method, rule);
  const { typeName } = method.parent;
  if (caller.services?.has(typeName) === false && !rule.ofEveryService) {
    const allowed = [...caller.services].toSorted().join(", ");
    const message = `${caller.actor} may not call ${typeName}; its role is limited to ${allowed}`;
    throw new InfraError(rpcReasons.SERVICE_NOT_ALLOWED, message);
  }
}

/** The hosts and resources of the call are checked later. @throws InfraError NOT_GRANTED */
function assertMethodGranted({ grants, actor }: Caller, method: DescMethod, rule: MethodRule): void {
  const methodPath = methodPathOf(method);
  const { role } = rule;
  if (grants !== undefined && !rule.ofEveryService && grants.allowing({ methodPath, role }) === undefined) {
    throw new InfraError(rpcReasons.NOT_GRANTED, `no grant of ${actor} allows ${methodPath} as ${role}`);
  }
}

const howToLogIn =
  "get a token from services.auth.AuthService/Login and send it as the header `authorization: Bearer <token>`";
