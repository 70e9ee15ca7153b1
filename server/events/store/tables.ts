import type { Generated } from "kysely";

declare module "../../store/schema.ts" {
  interface Schema {
    events: EventsTable;
    observed_states: ObservedStatesTable;
  }
}

/** Numbers increase in the order of commits, but not always by one. */
export interface EventsTable {
  seq: Generated<number>;
  at: number;
  topic: string;
  type: string;
  resource: string;
  /** Empty: it did not happen on a host. */
  host: string;
  operation_id: string | null;
  /** JSON array of the services that give a caller access to it. */
  services: string;
  payload_json: string;
  /** Host of the fleet whose gateway has recorded it; empty: this gateway. */
  fleet_host: Generated<string>;
  /** When that gateway recorded it, by its clock; null without `fleet_host`. */
  fleet_host_at: number | null;
}

/** Last published state of a system; the next read is compared with it. */
export interface ObservedStatesTable {
  source: string;
  version: number;
  state_json: string;
  observed_at: number;
}
