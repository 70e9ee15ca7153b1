/**
 * The tables, as Kysely's queries see them on either database: times are milliseconds of the database's clock, a boolean is 0
 * or 1, JSON is text, bytes are a Uint8Array. `version` is the number of the counter `auth_version` at the
 * last change of the row that affects authentication. All such changes are the rows with a version above the last one seen.
 *
 * Each folder declares its tables in `store/tables.ts` and adds them to this interface there.
 */
export interface Schema {
  meta: MetaTable;
  old_master_keys: OldMasterKeysTable;
}

/**
 * Facts about the database: `kind`, `created_at`, `key_check` (fingerprint of the master key in use), `store_id` (of the first
 * one), `schema_version`, `auth_version`, `event_epoch`, `events_gone_seq`, `events_gone_at`, `cluster_installation`, `cluster_sequence`.
 */
export interface MetaTable {
  name: string;
  value: string;
}

/** Replaced master keys that secrets may still need. */
export interface OldMasterKeysTable {
  fingerprint: string;
  replaced_at: number;
}
