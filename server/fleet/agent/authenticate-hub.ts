import { InfraError } from "../../../adapters/host/infra-error.ts";
import { fleetAccountId } from "../../rpc/access/fleet-account-id.ts";
import { createGrants, highestRole, servicesOf } from "../../rpc/access/grants.ts";
import { anonymous, type Caller } from "../../rpc/call/caller.ts";
import { hubCallerHeader } from "../../rpc/interceptors/known-headers.ts";
import { rpcReasons } from "../../rpc/reasons.ts";
import { type HubCaller, parseHubCaller } from "../caller/hub-caller.ts";
import type { Ceiling } from "./ceiling.ts";

/**
 * Finds the caller of a request on a hub's connection.
 * @throws InfraError MALFORMED_REQUEST when the hub names no caller
 */
export type AuthenticateHub = (request: { header(name: string): string | undefined }) => Caller;

/** @param ceiling the most that callers of a hub may do on this host, whatever the hub says */
export function createAuthenticateHub(ceiling: Ceiling): AuthenticateHub {
  return (request) => {
    const named = parseHubCaller(request.header(hubCallerHeader) ?? "");
    if (named === undefined) {
      throw new InfraError(
        rpcReasons.MALFORMED_REQUEST,
        `${hubCallerHeader}: expected a caller, as a hub sends it`,
      );
    }
    const caller: Caller = {
      ...anonymous,
      actor: `${named.actor} via ${named.hub}`,
      accountId: fleetAccountId(named.accountId),
      ...accessOf(named, ceiling),
      credential: "hub",
      ceiling,
      current: () => caller,
    };
    return caller;
  };
}

/** Returns what a caller may do on this host: what the hub grants, within the ceiling. */
function accessOf(
  { role, services, grants }: HubCaller,
  ceiling: Ceiling,
): Pick<Caller, "role" | "services" | "grants"> {
  const limit = ceiling.limitServices(services);
  if (grants === undefined) {
    return { role: ceiling.limitRole(role), services: limit, grants: undefined };
  }
  const limited = ceiling.limitGrants(grants);
  const granted = servicesOf(limited);
  return {
    role: highestRole(limited),
    services: granted === undefined ? limit : new Set(granted.filter((name) => limit?.has(name) !== false)),
    // The grants have no bounds of hosts any more, so the name of this host does not matter.
    grants: createGrants(limited, ""),
  };
}
