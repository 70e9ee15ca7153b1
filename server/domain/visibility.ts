import type { Fleet } from "../fleet/fleet.ts";
import type { GrantedHost } from "../rpc/access/grant.ts";
import type { GrantedUse, Grants, Subject } from "../rpc/access/grants.ts";
import type { Call } from "../rpc/call/call.ts";
import { callableServices } from "../rpc/call/callable-services.ts";

/** Bounds of a caller's grants. The object is the same as long as they and the caller's services are. */
export interface VisibilityBounds {
  /** @param subject its `host` is the name of one in the fleet; undefined or empty: this gateway */
  covers(subject: Omit<Subject, "host"> & { readonly host?: string | undefined }): boolean;
  /** @param name of a host in the fleet */
  coversHost(name: string): boolean;
  /** Reports whether a grant allows a call. @param call `host` as for `covers`; `methodPath`: `package.Service/Method` */
  allows(call: {
    readonly methodPath: string;
    readonly resource: string;
    readonly host?: string | undefined;
  }): boolean;
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
 * @param roleOf returns the role that a method needs; undefined: there is no such method
 */
export function createVisibilityOf(
  { hub }: Pick<Fleet, "hub">,
  roleOf: (methodPath: string) => GrantedUse["role"] | undefined = () => undefined,
): VisibilityOf {
  const known = new WeakMap<
    Grants,
    { readonly of: Visibility["services"]; readonly bounds: VisibilityBounds }
  >();

  function hostOf(name: string): GrantedHost {
    return { name, labels: hub?.hosts.find(name)?.labels ?? {} };
  }

  function boundsOf(grants: Grants, services: Visibility["services"]): VisibilityBounds {
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
      allows({ methodPath, resource, host }) {
        const role = roleOf(methodPath);
        const isCallable = services?.has(methodPath.slice(0, methodPath.indexOf("/"))) !== false;
        const where = host === undefined || host === "" ? "here" : hostOf(host);
        return (
          role !== undefined &&
          isCallable &&
          grants.allowing({ methodPath, role, resource, host: where }) !== undefined
        );
      },
    };
    known.set(grants, { of: services, bounds });
    return bounds;
  }

  return (call) => {
    const services = callableServices(call);
    const { grants } = call.caller.current();
    return { services, bounds: grants && boundsOf(grants, services) };
  };
}
