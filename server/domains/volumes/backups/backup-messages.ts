import type { MessageInitShape } from "@bufbuild/protobuf";
import { invalidField } from "../../../../adapters/host/infra-error.ts";
import {
  type CreateBackupRequest,
  type CreateBackupResponseSchema,
  StateType,
} from "../../../../gen/lvmd/served/lvmd_pb.ts";
import { backupsOff } from "../../../backups/backups-off.ts";
import { backupConfigKey as configKey } from "./backup-settings.ts";
import type { BackupPoll, BackupSpec } from "./create-backup.ts";
import type { VolumeBackups } from "./volume-backups.ts";

const numberOfState: Readonly<Record<BackupPoll["state"], StateType>> = {
  inProgress: StateType.INPROGRESS,
  complete: StateType.COMPLETE,
  error: StateType.ERROR,
};

/** @throws InfraError INVALID_FIELD */
export function specFromCreateBackup({ backup }: CreateBackupRequest): BackupSpec {
  if (backup === undefined) {
    throw invalidField("backup", "must be set");
  }
  const { name, volumeHandle, dataSource } = backup;
  return { name, volumeHandle, s3: dataSource?.type.value };
}

/** Converts the state of a backup to the message of the published API. */
export function backupStateMessage(
  name: string,
  { state, message }: BackupPoll,
): MessageInitShape<typeof CreateBackupResponseSchema> {
  return { backupState: { name, state: numberOfState[state], msg: message } };
}

/** @throws InfraError DOMAIN_OFF */
export function assertBackups(backups: VolumeBackups | undefined): VolumeBackups {
  if (backups === undefined) {
    throw backupsOff(configKey);
  }
  return backups;
}
