import type { Generated } from "kysely";

declare module "../../../store/schema.ts" {
  interface Schema {
    saved_plans: SavedPlansTable;
    plan_approvals: PlanApprovalsTable;
  }
}

export interface SavedPlansTable {
  seq: Generated<number>;
  id: string;
  /** As `planOwnerOf`. */
  owner: string;
  /** For people, e.g. `user/alice`. */
  actor: string;
  /** `package.Service/Method`. */
  method: string;
  /** The request in binary, bound to the id. */
  request_sealed: Uint8Array;
  /** The request without its secrets. */
  request_json: string;
  /** A `SavedMutation`. */
  plan_json: string;
  digest: string;
  /** Rules of the lvmd protocol that the request was planned with: `backups` or `current`. */
  lvmd: string;
  /** `open`, `applying`, `applied` or `stale`. */
  state: string;
  stale_because: string | null;
  operation_id: string | null;
  created_at: number;
  expires_at: number;
  /** Number of approvals that it needs; 0: none. */
  required_approvals: number;
  /** Identifies the method and the request, without the plan. */
  request_digest: string;
}

export interface PlanApprovalsTable {
  seq: Generated<number>;
  plan_id: string;
  /** Account of the approver; empty for the admin socket. */
  account: string;
  /** As `personOf`. */
  person: string;
  /** For people, e.g. `user/bob`. */
  actor: string;
  /** Why the glass was broken; null for an approval. */
  break_glass_reason: string | null;
  at: number;
}
