import type { PlannedMutation } from "../operations/mutation.ts";
import type { Operation } from "../operations/operation.ts";
import type { Asker } from "../rpc/asker.ts";
import type { BackupRow } from "../store/backups.ts";
import { backupsOff } from "./backups-off.ts";
import type { AccessFields } from "./repositories.ts";

/** The new volume of RestoreBackup. */
export interface WantedRestore {
  readonly name: string;
  /** Empty: not given. */
  readonly deviceClass: string;
  /** 0: that of the backup, rounded up. */
  readonly sizeGb: bigint;
  readonly tags: readonly string[];
}

/** What a source says of itself. */
export interface BackupSourceFacts {
  /** Resources of its volumes begin so, e.g. `volumeGroups/`. */
  readonly resourceStart: string;
  /** Where its backups are configured, e.g. `volumes.backup`. */
  readonly configKey: string;
}

/** What can be done with a backup that is written down. Every change is an operation, which the call begins or joins. */
export interface BackupSourceActions {
  /** @throws InfraError INVALID_FIELD, ENDPOINT_NOT_ALLOWED, REPOSITORY_NOT_FOUND, BUSY */
  verify(row: BackupRow, access: AccessFields | undefined, asker: Asker): Promise<Operation>;
  /** @throws InfraError as `verify`, and BACKUP_TOO_YOUNG */
  remove(row: BackupRow, access: AccessFields | undefined, asker: Asker): Promise<Operation>;
  /** @throws InfraError as `verify`, VOLUME_TOO_SMALL, and what the making of a volume throws */
  restore(
    row: BackupRow,
    wanted: WantedRestore,
    access: AccessFields | undefined,
    asker: Asker,
  ): Promise<Operation>;
  /** What `verify` would do now. @throws InfraError as `verify` does */
  planVerify(row: BackupRow, access: AccessFields | undefined): Promise<PlannedMutation>;
  /** What `remove` would do now. @throws InfraError as `remove` does */
  planRemove(row: BackupRow, access: AccessFields | undefined): Promise<PlannedMutation>;
  /** What `restore` would do now; no steps when it would join what is under way. @throws InfraError as `restore` does */
  planRestore(
    row: BackupRow,
    wanted: WantedRestore,
    access: AccessFields | undefined,
    signal: AbortSignal,
  ): Promise<PlannedMutation>;
}

/** A domain whose volumes are backed up. */
export interface BackupSource extends BackupSourceFacts, BackupSourceActions {
  /** Whether its backups are configured. */
  readonly isOn: boolean;
}

/** A domain whose backups are not configured: each call ends with DOMAIN_OFF. */
export function createAbsentBackupSource(facts: BackupSourceFacts): BackupSource {
  const refuse = async () => {
    throw backupsOff(facts.configKey);
  };
  return {
    ...facts,
    isOn: false,
    verify: refuse,
    remove: refuse,
    restore: refuse,
    planVerify: refuse,
    planRemove: refuse,
    planRestore: refuse,
  };
}
