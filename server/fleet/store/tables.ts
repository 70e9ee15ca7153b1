declare module "../../store/schema.ts" {
  interface Schema {
    fleet_authority: FleetAuthorityTable;
    fleet_tokens: FleetTokensTable;
    fleet_hosts: FleetHostsTable;
    fleet_membership: FleetMembershipTable;
    fleet_hubs: FleetHubsTable;
    fleet_followed_hosts: FleetFollowedHostsTable;
  }
}

/** The authority of the hub's fleet, in its only row. */
export interface FleetAuthorityTable {
  /** Always 1. */
  id: number;
  /** FleetAuthority as JSON. */
  sealed: Uint8Array;
  created_at: number;
}

/** Tokens with which hosts join. */
export interface FleetTokensTable {
  /** SHA-256 of the code. */
  code_hash: Uint8Array;
  /** The name that the host gets; null: the one that it asks for. */
  host: string | null;
  labels_json: string;
  created_by: string;
  created_at: number;
  expires_at: number;
  used_at: number | null;
}

/** The hosts of the fleet. */
export interface FleetHostsTable {
  name: string;
  /** Distinguishes hosts that had the same name one after the other. */
  id: string;
  labels_json: string;
  joined_at: number;
  certificate_expires_at: number;
  last_seen_at: number | null;
  /** What the host last reported, as JSON; null before it was first connected. */
  report_json: string | null;
  /** Counts the changes of the row, except those of `last_seen_at`. */
  revision: number;
}

/** Membership of this gateway in a fleet, in its only row. */
export interface FleetMembershipTable {
  /** Always 1. */
  id: number;
  /** Key, certificates and hubs as JSON. */
  sealed: Uint8Array;
  joined_at: number;
}

/** The hubs that share the database. */
export interface FleetHubsTable {
  /** The process. */
  instance_id: string;
  name: string;
  /** Where agents reach it. */
  addresses_json: string;
  /** IDs of the hosts that are connected to it. */
  host_ids_json: string;
  seen_at: number;
}

/** How far the events of each host are merged, and which hub does so. */
export interface FleetFollowedHostsTable {
  host_id: string;
  host: string;
  /** The host's cursor after the last merged event; empty before the host was first followed. */
  cursor: string;
  /** When the host's events were last merged; null before the first time. */
  merged_at: number | null;
  /** The hub that follows the host; empty: none. */
  owner: string;
  lease_until: number;
  /** 1 after `host.lost`, until `host.back`. */
  is_lost: number;
}
