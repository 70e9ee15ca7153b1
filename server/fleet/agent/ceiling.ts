import { matchesGlob } from "node:path";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { type CallerRole, callerRoles } from "../../rpc/access/caller-role.ts";
import type { Grant } from "../../rpc/access/grant.ts";
import type { Caller, CallerCeiling } from "../../rpc/call/caller.ts";
import { fleetReasons } from "../reasons.ts";

/** `fleet.agent.ceiling` of the configuration: what callers of a hub may do at most. */
export interface CeilingConfig {
  readonly role: CallerRole;
  /** Full names of services; absent: all. */
  readonly services?: readonly string[] | undefined;
  /** Methods, as `package.Service/Method`, that need the local socket. */
  readonly reservedMethods: readonly string[];
  /** Patterns of resources that are never changed, such as `volumeGroups/vg0/**`. */
  readonly protect: readonly string[];
}

/** Limits callers of a hub. */
export interface Ceiling extends CallerCeiling {
  /** Returns the lesser of a role and the ceiling's. */
  limitRole(role: CallerRole): CallerRole;
  /** Returns those of the services that the ceiling has; undefined means all. */
  limitServices(services: readonly string[] | undefined): Caller["services"];
  /** Returns the grants within the ceiling, without those that have no service left. */
  limitGrants(grants: readonly Grant[]): readonly Grant[];
}

/** @param config the part of `fleet.ceiling` in the host's own configuration; absent `services` means all */
export function createCeiling({ role, services, reservedMethods, protect }: CeilingConfig): Ceiling {
  const highest = callerRoles.indexOf(role);
  const reserved = new Set(reservedMethods);
  const allowed = services === undefined ? undefined : new Set(services);
  const limitRole = (asked: CallerRole) =>
    callerRoles[Math.min(callerRoles.indexOf(asked), highest)] ?? "viewer";

  function limitGrant(grant: Grant): readonly Grant[] {
    const limited = { ...grant, role: limitRole(grant.role) };
    if (allowed === undefined) {
      return [limited];
    }
    if (grant.methods !== undefined) {
      const methods = grant.methods.filter((path) => allowed.has(path.slice(0, path.indexOf("/"))));
      return methods.length === 0 ? [] : [{ ...limited, methods }];
    }
    const services = (grant.services ?? [...allowed]).filter((name) => allowed.has(name));
    return services.length === 0 ? [] : [{ ...limited, services }];
  }

  return {
    limitRole,
    limitGrants: (grants) => grants.flatMap(limitGrant),
    limitServices: (asked) =>
      asked === undefined ? allowed : new Set(asked.filter((name) => allowed?.has(name) !== false)),
    assertMethod(methodPath) {
      if (reserved.has(methodPath)) {
        const message = `${methodPath} is reserved for the host's local socket (fleet.agent.ceiling.reservedMethods)`;
        throw new InfraError(fleetReasons.BEYOND_CEILING, message);
      }
    },
    assertResource(resource) {
      const pattern = protect.find((each) => matchesGlob(resource, each));
      if (pattern !== undefined) {
        const message = `${resource} matches ${pattern} of fleet.agent.ceiling.protect; only the host's local socket may change it`;
        throw new InfraError(fleetReasons.BEYOND_CEILING, message, { resource });
      }
    },
  };
}
