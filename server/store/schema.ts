import type { Generated } from "kysely";

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
}

/** Facts of the database itself: `kind`, `created_at`, `key_check`, `schema_version`, `auth_version`. */
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
