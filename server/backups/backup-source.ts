import type { PlannedMutation } from "../operations/mutation.ts";
import type { Operation } from "../operations/operation.ts";
import type { Requester } from "../rpc/call/requester.ts";
import { backupsOff } from "./backups-off.ts";
import type { AccessFields } from "./repositories.ts";
import type { BackupRow } from "./store/backups.ts";

/** The new volume of RestoreBackup. */
export interface WantedRestore {
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

/** Actions on a recorded backup. Every change is an operation, which the call starts or joins. */
export interface BackupSourceActions {
  /** @throws InfraError INVALID_FIELD, ENDPOINT_NOT_ALLOWED, REPOSITORY_NOT_FOUND, BUSY */
  verify(row: BackupRow, access: AccessFields | undefined, asker: Requester): Promise<Operation>;
  /** @throws InfraError the errors of `verify`, and BACKUP_TOO_YOUNG */
  remove(row: BackupRow, access: AccessFields | undefined, asker: Requester): Promise<Operation>;
  /** @throws InfraError the errors of `verify`, VOLUME_TOO_SMALL, and the errors of creating a volume */
  restore(
    row: BackupRow,
    wanted: WantedRestore,
    access: AccessFields | undefined,
    asker: Requester,
  ): Promise<Operation>;
  /** Plans `verify`. @throws InfraError the errors of `verify` */
  planVerify(row: BackupRow, access: AccessFields | undefined): Promise<PlannedMutation>;
  /** Plans `remove`. @throws InfraError the errors of `remove` */
  planRemove(row: BackupRow, access: AccessFields | undefined): Promise<PlannedMutation>;
  /** Plans `restore`; no steps when it would join a running operation. @throws InfraError the errors of `restore` */
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

/** Creates the source of a domain without configured backups: each call fails with DOMAIN_OFF. */
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
