declare module "../../../store/schema.ts" {
  interface Schema {
    idempotency_keys: IdempotencyKeysTable;
  }
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
