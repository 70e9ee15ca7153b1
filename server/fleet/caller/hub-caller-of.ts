import type { Call } from "../../rpc/call/call.ts";
import { callableServices } from "../../rpc/call/callable-services.ts";
import type { HubCaller } from "./hub-caller.ts";

/**
 * Describes the caller of a call to an agent. Undefined for a caller without a login: a host serves such a caller only the methods
 * that need none.
 * @param hub name of this hub
 * @throws InfraError UNAUTHENTICATED reasons once the caller's credential is no longer accepted
 */
export function hubCallerOf(call: Call, hub: string): HubCaller | undefined {
  const { caller, peer, requestId } = call;
  if (caller.role === undefined) {
    return undefined;
  }
  const services = callableServices(call);
  return {
    actor: caller.actor,
    accountId: caller.accountId,
    role: caller.role,
    services: services && [...services],
    address: peer.address,
    hub,
    requestId,
  };
}
