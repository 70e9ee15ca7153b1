import type { BeginnableChange } from "../domain/long-change.ts";
import { backupsOff } from "./backups-off.ts";
import type { AccessFields } from "./repositories.ts";
import type { BackupRow } from "./store/backups.ts";

/** The new volume of RestoreBackup. */
export interface RestoreSpec {
  readonly name: string;
  /** Empty: not given. */
  readonly deviceClass: string;
  /** 0: the size of the backup, rounded up. */
  readonly sizeGb: bigint;
  readonly tags: readonly string[];
}

/** Static facts of a source. */
export interface BackupSourceFacts {
  /** Prefix of its volumes' resources, e.g. `volumeGroups/`. */
  readonly resourceStart: string;
  /** Configuration key of its backups, e.g. `volumes.backup`. */
  readonly configKey: string;
}

/** A request about a recorded backup. */
export interface StoredBackupRequest {
  readonly row: BackupRow;
  /** Access to a repository whose key the gateway does not have. */
  readonly access: AccessFields | undefined;
}

/** A request to restore a recorded backup. */
export interface RestoreRequest extends StoredBackupRequest {
  readonly spec: RestoreSpec;
}

/** Changes of recorded backups. Each is an operation. */
export interface BackupSourceChanges {
  /** @throws InfraError INVALID_FIELD, ENDPOINT_NOT_ALLOWED, REPOSITORY_NOT_FOUND, BUSY */
  readonly verify: BeginnableChange<StoredBackupRequest>;
  /** @throws InfraError the errors of `verify`, and BACKUP_TOO_YOUNG */
  readonly remove: BeginnableChange<StoredBackupRequest>;
  /** @throws InfraError the errors of `verify`, VOLUME_TOO_SMALL, and the errors of creating a volume */
  readonly restore: BeginnableChange<RestoreRequest>;
}

/** A domain whose volumes are backed up. */
export interface BackupSource extends BackupSourceFacts, BackupSourceChanges {
  /** Whether its backups are configured. */
  readonly isOn: boolean;
}

/** Creates the source of a domain without configured backups: each call fails with DOMAIN_OFF. */
export function createAbsentBackupSource(facts: BackupSourceFacts): BackupSource {
  const refuse = async () => {
    throw backupsOff(facts.configKey);
  };
  const refused = { plan: refuse, begin: refuse };
  return { ...facts, isOn: false, verify: refused, remove: refused, restore: refused };
}
