import type { HostLink } from "../links/host-link.ts";

/** A host of the fleet, as far as calls to it need it. */
export interface FleetHost {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Names of its domains that are not off, such as `volumes`, as of its last report. */
  readonly domains: ReadonlySet<string>;
  /** Its connection to this hub; undefined while it has none. */
  readonly link: HostLink | undefined;
}

/** The hosts of the fleet. */
export interface FleetHosts {
  /** Returns a host by its name; undefined if the fleet has none of this name. */
  find(name: string): FleetHost | undefined;
  /** Returns all hosts, ordered by name. */
  hosts(): readonly FleetHost[];
}
