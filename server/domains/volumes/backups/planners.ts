import type { CreateBackupRequest } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import { nothingToDo } from "../../../backups/stored-backup-plans.ts";
import type { PlannedMutation } from "../../../operations/mutation.ts";
import type { PlanRequester } from "../../../operations/planner.ts";
import type { NewVolume } from "../changes/create-volume.ts";
import { backupKindName } from "./backup-kind.ts";
import { wantedFromCreateBackup } from "./backup-messages.ts";
import { createBackupPlans } from "./backup-plans.ts";
import { restoreKindName } from "./restore-kind.ts";
import type { RestoreSource } from "./restore-volume.ts";
import type { VolumeBackups } from "./volume-backups.ts";

/** Plans a CreateBackup. */
export async function planCreateBackup(
  { createBackup, commands }: VolumeBackups,
  request: CreateBackupRequest,
  { signal }: PlanRequester,
): Promise<PlannedMutation> {
  const { resource, begins } = await createBackup.plan(wantedFromCreateBackup(request), signal);
  return begins === undefined
    ? nothingToDo(backupKindName, resource)
    : createBackupPlans(commands).backup(begins);
}

/** Plans a CreateLV with a `data_source`. */
export async function planRestore(
  { restoreVolume, commands }: VolumeBackups,
  volume: NewVolume,
  source: RestoreSource,
  { signal }: PlanRequester,
): Promise<PlannedMutation> {
  const { resource, begins } = await restoreVolume.planCreate(volume, source, signal);
  return begins === undefined
    ? nothingToDo(restoreKindName, resource)
    : createBackupPlans(commands).restore(begins);
}
