import type { Fleet } from "../fleet/fleet.ts";
import { fleetAccountId } from "../rpc/access/fleet-account-id.ts";
import type { GrantedHost } from "../rpc/access/grant.ts";
import type { Grants, Subject } from "../rpc/access/grants.ts";
import type { Call } from "../rpc/call/call.ts";
import { callableServices } from "../rpc/call/callable-services.ts";
import type { Caller, CallerCeiling } from "../rpc/call/caller.ts";
import type { MethodRule } from "../rpc/call/method-rule.ts";

/** Bounds of a caller's grants, which are those of one account. The object is the same as long as they and the caller's services are. */
export interface VisibilityBounds {
  /** @param subject its `host` is the name of one in the fleet; undefined or empty: this gateway */
  covers(subject: Omit<Subject, "host"> & { readonly host?: string | undefined }): boolean;
  /** @param name of a host in the fleet */
  coversHost(name: string): boolean;
  /**
   * Reports whether the caller sees a saved plan, and its events: its own, as long as its grants cover the resource, and those that
   * wait for approvals which its grants allow it to give.
   */
  showsPlan(plan: SubjectPlan): boolean;
}

/** A saved plan that may be shown to a caller. */
export interface SubjectPlan {
  /** Of its call: `package.Service/Method`. */
  readonly methodPath: string;
  /** The resource that its call changes. */
  readonly resource: string;
  /** Account that has saved it. Callers without an account have no bounds. */
  readonly owner: string;
  readonly needsApproval: boolean;
  /** As for `covers`. */
  readonly host?: string | undefined;
}

/** What a caller may see of the work of others. */
export interface Visibility {
  /** Full names of services; undefined means all. */
  readonly services: ReadonlySet<string> | undefined;
  /** Undefined: everything of these services. */
  readonly bounds: VisibilityBounds | undefined;
}

/**
 * Returns what a caller may see at the moment.
 * @throws InfraError UNAUTHENTICATED reasons once the caller's credential is no longer accepted
 */
export type VisibilityOf = (call: Pick<Call, "caller" | "peer">) => Visibility;

/**
 * Creates the function, which looks up the labels of the hub's hosts.
 * @param ruleOf returns the rule of a method; undefined: there is no such method
 */
export function createVisibilityOf(
  { hub }: Pick<Fleet, "hub">,
  ruleOf: (methodPath: string) => Pick<MethodRule, "role" | "fleetWide"> | undefined = () => undefined,
): VisibilityOf {
  const known = new WeakMap<
    Grants,
    { readonly of: Visibility["services"]; readonly bounds: VisibilityBounds }
  >();

  function hostOf(name: string): GrantedHost {
    return { name, labels: hub?.hosts.find(name)?.labels ?? {} };
  }

  function boundsOf(
    { accountId, credential, ceiling }: Caller,
    grants: Grants,
    services: Visibility["services"],
  ): VisibilityBounds {
    const kept = known.get(grants);
    if (kept !== undefined && kept.of === services) {
      return kept.bounds;
    }
    const bounds: VisibilityBounds = {
      covers({ services: all, host, ...subject }) {
        const callable = services === undefined ? all : all.filter((name) => services.has(name));
        const of = host === undefined || host === "" ? undefined : hostOf(host);
        return grants.covers({ ...subject, services: callable, host: of });
      },
      coversHost: (name) => grants.coversHost(hostOf(name)),
      showsPlan({ methodPath, resource, owner, needsApproval, host }) {
        const service = methodPath.slice(0, methodPath.indexOf("/"));
        if (!bounds.covers({ services: [service], resource, host })) {
          return false;
        }
        const isHere = host === undefined || host === "";
        const isOwn = owner !== "" && owner === (isHere ? accountId : fleetAccountId(accountId));
        const rule = ruleOf(methodPath);
        return (
          isOwn ||
          (needsApproval &&
            rule !== undefined &&
            !(rule.fleetWide && (credential === "hub" || !isHere)) &&
            permits(ceiling, methodPath) &&
            grants.allowing({
              methodPath,
              role: rule.role,
              resource,
              host: isHere ? "here" : hostOf(host),
            }) !== undefined)
        );
      },
    };
    known.set(grants, { of: services, bounds });
    return bounds;
  }

  return (call) => {
    const services = callableServices(call);
    const caller = call.caller.current();
    return { services, bounds: caller.grants && boundsOf(caller, caller.grants, services) };
  };
}

function permits(ceiling: CallerCeiling | undefined, methodPath: string): boolean {
  try {
    ceiling?.assertMethod(methodPath);
    return true;
  } catch {
    return false;
  }
}
