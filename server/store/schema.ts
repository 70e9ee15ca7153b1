import type { Generated } from "kysely";
import type {
  ClusterMachineEventsTable,
  ClusterPoolsTable,
  ClusterSlotsTable,
  ClustersTable,
} from "../domains/clusters/store/tables.ts";

/**
 * The tables, as Kysely's queries see them on either database: times are milliseconds of the database's clock, a boolean is 0
 * or 1, JSON is text, bytes are a Uint8Array. `version` is the number of the counter `auth_version` at the
 * last change of the row that affects authentication. All such changes are the rows with a version above the last one seen.
 */
export interface Schema {
  meta: MetaTable;
  users: UsersTable;
  api_tokens: ApiTokensTable;
  signing_keys: SigningKeysTable;
  revocations: RevocationsTable;
  login_failures: LoginFailuresTable;
  audit_events: AuditEventsTable;
  idempotency_keys: IdempotencyKeysTable;
  gateways: GatewaysTable;
  operations: OperationsTable;
  operation_steps: OperationStepsTable;
  operation_commands: OperationCommandsTable;
  events: EventsTable;
  observed_states: ObservedStatesTable;
  backups: BackupsTable;
  backup_requests: BackupRequestsTable;
  repository_keys: RepositoryKeysTable;
  repository_makings: RepositoryMakingsTable;
  clusters: ClustersTable;
  cluster_pools: ClusterPoolsTable;
  cluster_slots: ClusterSlotsTable;
  cluster_machine_events: ClusterMachineEventsTable;
}

/**
 * Facts about the database: `kind`, `created_at`, `key_check`, `schema_version`, `auth_version`, `event_epoch`,
 * `events_gone_seq`, `events_gone_at`, `cluster_installation`, `cluster_sequence`.
 */
export interface MetaTable {
  name: string;
  value: string;
}

export interface UsersTable {
  /** Never reused for another user. */
  id: string;
  /** Unique among the users that are not removed. */
  name: string;
  role: string;
  /** JSON array of service names, or null: all. */
  services: string | null;
  password_hash: string | null;
  /** JSON array. */
  certificate_names: string;
  /** Tokens issued earlier are rejected, except the token of `kept_session`. */
  tokens_not_before: number;
  /** `jti` of the session that last changed its user's own password; it stays logged in. */
  kept_session: string | null;
  created_at: number;
  changed_at: number;
  removed_at: number | null;
  version: number;
}

export interface ApiTokensTable {
  id: string;
  /** Unique among the tokens that are not revoked. */
  name: string;
  hash: Uint8Array;
  role: string;
  /** JSON array of service names, or null: all. */
  services: string | null;
  created_by: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
  version: number;
}

export interface SigningKeysTable {
  id: string;
  secret_sealed: Uint8Array;
  created_at: number;
  /** When it stopped signing. */
  retired_at: number | null;
  /** When it stops verifying. */
  verify_until: number | null;
  version: number;
}

export interface RevocationsTable {
  /** ID of the session token. */
  jti: string;
  account_id: string;
  /** When the token would have expired; after that the row is not needed. */
  expires_at: number;
  version: number;
}

export interface LoginFailuresTable {
  key: string;
  failures: number;
  blocked_until: number;
  last_failure_at: number;
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
  request_id: string;
  request_json: string | null;
  backend: string;
  /** Number of calls that the row stands for. */
  count: Generated<number>;
  /** Key and minute that the calls of the row share; null: the row is one call. */
  sum_key: string | null;
  instance_id: string;
  /** Host name of the gateway. */
  host: string;
}

export interface IdempotencyKeysTable {
  caller: string;
  method: string;
  key_hash: Uint8Array;
  request_hash: Uint8Array;
  /** `running` or `done`. */
  state: string;
  instance_id: string;
  lease_until: number;
  result_sealed: Uint8Array | null;
  created_at: number;
  expires_at: number;
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
}

/** Last published state of a system; the next read is compared with it. */
export interface ObservedStatesTable {
  source: string;
  version: number;
  state_json: string;
  observed_at: number;
}

export interface BackupsTable {
  seq: Generated<number>;
  id: string;
  name: string;
  /** Resource name of the volume. */
  volume: string;
  host: string;
  /** ID of the volume group. */
  backend: string;
  /** UUID of the volume; a later volume of the same name has another one. */
  volume_uuid: string;
  size_bytes: number;
  at: number;
  repository_json: string;
  snapshot_id: string;
  /** Name in `repository_keys`; null: the user has the key. */
  key_name: string | null;
  schedule: string | null;
  operation_id: string;
  actor: string;
  verified_at: number | null;
  damage: string | null;
}

/** Operation that the next poll of CreateBackup asks about. */
export interface BackupRequestsTable {
  host: string;
  volume: string;
  name: string;
  operation_id: string;
}

export interface RepositoryKeysTable {
  name: string;
  repository: string;
  secret_sealed: Uint8Array;
  created_at: number;
}

/** Locks on the creation of backup repositories. */
export interface RepositoryMakingsTable {
  repository: string;
  /** ID of the operation. */
  owner: string;
  lease_until: number;
}
