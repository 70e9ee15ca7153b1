import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Call } from "../../rpc/call/call.ts";
import { callableServices } from "../../rpc/call/callable-services.ts";
import { rpcReasons } from "../../rpc/reasons.ts";
import type { HubCaller } from "./hub-caller.ts";

/** The hub that names a caller to its hosts. */
export interface HubOfCaller {
  /** For people. */
  readonly name: string;
  readonly hosts: {
    find(name: string): { readonly labels: Readonly<Record<string, string>> } | undefined;
  };
}

/**
 * Describes the caller of a call to an agent, as of now. Undefined for a caller without a login: a host serves such a caller only the methods
 * that need none.
 * @throws InfraError NOT_GRANTED when no grant covers the host; UNAUTHENTICATED reasons once the caller's credential is no longer accepted
 */
export function hubCallerOf(
  call: Call,
  { name: hub, hosts }: HubOfCaller,
  host: string,
): HubCaller | undefined {
  const { peer, requestId } = call;
  const caller = call.caller.current();
  if (caller.role === undefined) {
    return undefined;
  }
  const services = callableServices(call);
  const { grants } = caller;
  const granted = grants?.onHost({ name: host, labels: hosts.find(host)?.labels ?? {} });
  if (granted?.length === 0) {
    throw new InfraError(rpcReasons.NOT_GRANTED, `no grant of ${caller.actor} covers the host ${host}`);
  }
  return {
    actor: caller.actor,
    accountId: caller.accountId,
    role: caller.role,
    services: services && [...services],
    grants: granted,
    address: peer.address,
    hub,
    requestId,
  };
}
