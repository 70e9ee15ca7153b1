import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { Call } from "../../rpc/call/call.ts";
import { fleetHostHeader } from "../../rpc/interceptors/known-headers.ts";
import { grantedFleetHosts } from "../caller/granted-hosts.ts";
import { type HubOfCaller, hubCallerOf } from "../caller/hub-caller-of.ts";
import { linkOf } from "../forward/find-host.ts";
import type { FleetHosts } from "../forward/fleet-hosts.ts";
import type { HostLink } from "../links/host-link.ts";
import { errorFromHost } from "./error-from-host.ts";
import { createHostClient } from "./host-client.ts";

/** A hub, as far as calls on its hosts need it. */
export interface CallingHub {
  readonly name: string;
  readonly hosts: FleetHosts;
}

/** Creates a client of a service on a host, whose calls are made for the caller of a call of this hub. */
export function hostClientFor<Service extends DescService>(
  link: HostLink,
  service: Service,
  call: Call,
  hub: HubOfCaller,
): Client<Service> {
  const caller = hubCallerOf(call, hub, link.host);
  if (caller === undefined) {
    throw new TypeError(`${call.method.parent.typeName} needs a login`);
  }
  return createHostClient(link, service, caller);
}

/**
 * Makes a call of this hub on a host instead. The log, the audit log and the answer name the host.
 * @param work must pass `call.signal`
 * @throws InfraError HOST_UNKNOWN, HOST_UNREACHABLE, the error of the host, and the reason why the call has ended
 */
export async function callOnHost<Service extends DescService, Result>(
  hub: CallingHub,
  host: string,
  service: Service,
  call: Call,
  work: (client: Client<Service>) => Promise<Result>,
): Promise<Result> {
  const link = linkOf(grantedFleetHosts(hub.hosts, call), host);
  call.noteFleetHost(host);
  call.setHeader(fleetHostHeader, host);
  try {
    return await work(hostClientFor(link, service, call, hub));
  } catch (thrown) {
    call.signal.throwIfAborted();
    const error = errorFromHost(thrown, link);
    throw call.rule.mutation && error.effect === undefined ? error.withEffect("possible") : error;
  }
}
