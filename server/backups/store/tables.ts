import type { Generated } from "kysely";

declare module "../../store/schema.ts" {
  interface Schema {
    backups: BackupsTable;
    backup_requests: BackupRequestsTable;
    repository_keys: RepositoryKeysTable;
    repository_makings: RepositoryMakingsTable;
  }
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
