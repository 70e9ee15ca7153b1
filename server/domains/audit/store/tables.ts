import type { Generated } from "kysely";

declare module "../../../store/schema.ts" {
  interface Schema {
    audit_events: AuditEventsTable;
  }
}

export interface AuditEventsTable {
  seq: Generated<number>;
  at: number;
  ended_at: number | null;
  actor: string;
  account_id: string;
  credential: string;
  address: string;
  listener: string;
  rpc: string;
  resource: string | null;
  /** Outcome of the call. Null: unknown, because the call is still open or its gateway died. */
  code: string | null;
  reason: string | null;
  operation_id: string | null;
  /** Saved plan that the call has applied. */
  plan_id: string | null;
  /** JSON list of those who have approved the plan. */
  approved_by_json: string | null;
  request_id: string;
  request_json: string | null;
  backend: string;
  /** Number of calls that the row stands for. */
  count: Generated<number>;
  /** Key and minute that the calls of the row share; null: the row is one call. */
  sum_key: string | null;
  instance_id: string;
  /** Host name of the gateway; of a call that a hub has forwarded, the name of the host in the fleet. */
  host: string;
}
