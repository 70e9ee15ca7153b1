declare module "../../../store/schema.ts" {
  interface Schema {
    users: UsersTable;
    api_tokens: ApiTokensTable;
    signing_keys: SigningKeysTable;
    revocations: RevocationsTable;
    login_failures: LoginFailuresTable;
    provider_sessions: ProviderSessionsTable;
  }
}

export interface UsersTable {
  /** Never reused for another user. */
  id: string;
  /** Unique among the users that are not removed. */
  name: string;
  role: string;
  /** JSON array of service names, or null: all. */
  services: string | null;
  /** JSON array of grants, or null: role and services decide. */
  grants: string | null;
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
  /** Name of the identity provider that the user logs in by; null for a local user. */
  provider: string | null;
  /** The user's `sub` at the provider, unique among its users that are not removed. */
  subject: string | null;
}

export interface ApiTokensTable {
  id: string;
  /** Unique among the tokens that are not revoked. */
  name: string;
  hash: Uint8Array;
  role: string;
  /** JSON array of service names, or null: all. */
  services: string | null;
  /** JSON array of grants, or null: role and services decide. */
  grants: string | null;
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

export interface ProviderSessionsTable {
  /** ID of the session token. */
  jti: string;
  user_id: string;
  provider: string;
  subject: string;
  /** ID of the provider's session, if it has named one. */
  sid: string | null;
  refresh_token_sealed: Uint8Array;
  began_at: number;
  /** When the provider last confirmed it. */
  checked_at: number;
  /** A gateway is checking it until then. */
  lease_until: number;
  expires_at: number;
}
