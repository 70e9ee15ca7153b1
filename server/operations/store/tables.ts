import type { Generated } from "kysely";

declare module "../../store/schema.ts" {
  interface Schema {
    gateways: GatewaysTable;
    operations: OperationsTable;
    operation_steps: OperationStepsTable;
    operation_commands: OperationCommandsTable;
  }
}

/** Gateways that use the database, to detect whether the gateways of a host are away. */
export interface GatewaysTable {
  instance_id: string;
  host: string;
  seen_at: number;
}

export interface OperationsTable {
  seq: Generated<number>;
  id: string;
  kind: string;
  resource: string;
  /** ID of the system that it targets. */
  backend: string;
  /** System whose limit on running operations it counts against. */
  system: string;
  /** Host that it must run on; null: any. */
  host: string | null;
  /** RPC that started it. Its role and service decide who may see, cancel and retry the operation. */
  rpc: string;
  actor: string;
  account_id: string;
  /** Identifies repeats of the request while the operation has not ended. */
  attach_key: string | null;
  input_json: string;
  /** Saved plan that it applies; null: none. */
  plan_id: string | null;
  /** What the plan says of it, a `PlannedMutation`. */
  plan_json: string | null;
  /** Null: it never had any. Empty: they were erased when it ended; an operation that needs attention keeps them. */
  secrets_sealed: Uint8Array | null;
  /** `scheduled`, `active`, `undoing`, `completed`, `failed`, `cancelled`, `needsAttention`. */
  state: string;
  message: string;
  waiting_for: string;
  progress_ppm: number | null;
  done_bytes: number | null;
  total_bytes: number | null;
  step: string | null;
  attempt: number;
  cancel_requested: number;
  /** 0 or 1: whether it has passed its point of no return. */
  past_return: number;
  error_json: string | null;
  attention_json: string | null;
  result_json: string | null;
  /** Instance ID of the gateway that runs it. */
  owner: string | null;
  /** Incremented by every claim; writes with an older fence are refused. */
  fence: number;
  lease_until: number;
  /** Earliest time of a claim. */
  not_before: number;
  created_at: number;
  started_at: number | null;
  /** Null while it is `scheduled`, `active` or `undoing`. */
  ended_at: number | null;
}

export interface OperationStepsTable {
  operation_id: string;
  position: number;
  name: string;
  /** `pending`, `running`, `done`, `failed`, `undoing`, `undone`, `undoFailed`. */
  state: string;
  attempt: number;
  output_json: string | null;
  error: string | null;
  started_at: number | null;
  ended_at: number | null;
}

export interface OperationCommandsTable {
  seq: Generated<number>;
  operation_id: string;
  step: string;
  at: number;
  argv_json: string;
  exit_code: number | null;
  signal: string | null;
  duration_ms: number;
  host: string;
}
