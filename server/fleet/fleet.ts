import type { Membership } from "./agent/membership.ts";
import type { FleetHosts } from "./forward/fleet-hosts.ts";
import type { Hub } from "./hub/hub.ts";

/** The part of a gateway in a fleet. A gateway may be a hub, a host, both or neither. */
export interface Fleet {
  /** Undefined unless `fleet.hub` is configured. */
  readonly hub: Hub | undefined;
  /** The hosts that calls can be forwarded to; undefined unless the gateway is a hub. */
  readonly hosts: FleetHosts | undefined;
  readonly membership: Membership;
}
