declare module "../../store/schema.ts" {
  interface Schema {
    master_key_holders: MasterKeyHoldersTable;
    digest_keys: DigestKeysTable;
  }
}

/** The gateways that share the database, and their master keys. */
export interface MasterKeyHoldersTable {
  instance_id: string;
  host: string;
  /** Fingerprints of the keys that it has. */
  keys_json: string;
  /** Fingerprint of the only key that it now encrypts with. */
  seals_with: string;
  seen_at: number;
}

/** Keys of digests. They are kept when the master key changes, so that digests still match. */
export interface DigestKeysTable {
  name: string;
  key_sealed: Uint8Array;
}
