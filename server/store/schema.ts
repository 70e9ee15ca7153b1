import type { Generated } from "kysely";
import type {
  ClusterMachineEventsTable,
  ClusterPoolsTable,
  ClusterSlotsTable,
  ClustersTable,
} from "./cluster-tables.ts";

/**
 * The tables, as Kysely's queries see them on either database: times are milliseconds of the database's
 * clock, a boolean is 0 or 1, JSON is text, bytes are a Uint8Array. A row whose `version` is set was written by
 * the transaction that took that number of the counter `auth_version`, so that "all with a version above the
 * last one seen" is all that changed.
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

/** Facts of the database itself: `kind`, `created_at`, `key_check`, `schema_version`, `auth_version`, `event_epoch`, `events_gone_seq`, `events_gone_at`, `cluster_installation`, `cluster_sequence`. */
export interface MetaTable {
  name: string;
  value: string;
}

export interface UsersTable {
  /** Never used again for another user. */
  id: string;
  /** Unique among those that are not removed. */
  name: string;
  role: string;
  /** JSON array of service names, or null: all. */
  services: string | null;
  password_hash: string | null;
  /** JSON array. */
  certificate_names: string;
  /** Tokens issued before are accepted no more, but for that of `kept_session`. */
  tokens_not_before: number;
  /** `jti` of the session by which the user last changed the own password, which stays logged in. */
  kept_session: string | null;
  created_at: number;
  changed_at: number;
  removed_at: number | null;
  version: number;
}

export interface ApiTokensTable {
  id: string;
  /** Unique among those that are not revoked. */
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
  /** Signs no more since. */
  retired_at: number | null;
  /** Verifies no more after. */
  verify_until: number | null;
  version: number;
}

export interface RevocationsTable {
  /** Id of the session token. */
  jti: string;
  account_id: string;
  /** When the token would have expired: the row is of no use after. */
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
  /** The outcome, or null: not known, the call is still open or its gateway died. */
  code: string | null;
  reason: string | null;
  operation_id: string | null;
  request_id: string;
  request_json: string | null;
  backend: string;
  /** How many calls the row sums. */
  count: Generated<number>;
  /** What summed calls have in common; null: the row is one call. */
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

/** Gateways that use the database, so that each can tell whether those of a host are away. */
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
  /** Identity of the system it is meant for. */
  backend: string;
  /** Whose limit of operations at once it counts for. */
  system: string;
  /** Where it has to run; null: anywhere. */
  host: string | null;
  /** The RPC that began it, whose role and service say who may see, cancel and retry it. */
  rpc: string;
  actor: string;
  account_id: string;
  /** What a repeated request is known by while the operation has not ended. */
  attach_key: string | null;
  input_json: string;
  /** Null: it was given none. Empty: they were erased at its end; one that needs attention keeps them. */
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
  /** Whether it has passed its point of no return. */
  past_return: number;
  error_json: string | null;
  attention_json: string | null;
  result_json: string | null;
  /** Instance id of the gateway that runs it. */
  owner: string | null;
  /** Counted up by every claim: a write of an older one is refused. */
  fence: number;
  lease_until: number;
  /** Not to be claimed before. */
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

/** Numbers grow in the order of commits, but not by one. */
export interface EventsTable {
  seq: Generated<number>;
  at: number;
  topic: string;
  type: string;
  resource: string;
  /** Empty: it happened on none. */
  host: string;
  operation_id: string | null;
  /** JSON array of the services by which a caller may see it. */
  services: string;
  payload_json: string;
}

/** What was last told of a system, against which the next look at it is compared. */
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
  /** Resource of the volume. */
  volume: string;
  host: string;
  /** Identity of the volume group. */
  backend: string;
  /** Identity of the volume: another of the same name has another. */
  volume_uuid: string;
  size_bytes: number;
  at: number;
  repository_json: string;
  snapshot_id: string;
  /** Of `repository_keys`; null: the owner has the key. */
  key_name: string | null;
  schedule: string | null;
  operation_id: string;
  actor: string;
  verified_at: number | null;
  damage: string | null;
}

/** Which operation the next poll of CreateBackup asks about. */
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

/** Who makes a repository at the moment. */
export interface RepositoryMakingsTable {
  repository: string;
  /** The operation. */
  owner: string;
  lease_until: number;
}
