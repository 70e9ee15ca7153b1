import { BackupService } from "../../../../gen/hostplane/v1/backup_pb.ts";
import type { CreateBackupRequest, CreateLVRequest } from "../../../../gen/proto/lvmd_pb.ts";
import type { PlannedMutation } from "../../../operations/mutation.ts";
import { type PlanAsker, type PlannerRegistration, registerPlanners } from "../../../operations/planner.ts";
import { wantedFromCreate } from "../volume-requests.ts";
import { backupKindName } from "./backup-kind.ts";
import { parseBackupId, wantedFromCreateBackup, wantedFromRestore } from "./backup-messages.ts";
import { createBackupPlans, nothingToDo } from "./backup-plans.ts";
import type { Backups } from "./backups.ts";
import { restoreKindName } from "./restore-kind.ts";
import type { RestoreSource } from "./restore-volume.ts";

/** What the calls of hostplane.v1.BackupService would do. */
export function createBackupPlanners({ stored, commands }: Backups): PlannerRegistration {
  const plans = createBackupPlans(commands);
  return registerPlanners(BackupService, {
    verifyBackup: async ({ id, access }) => plans.verify(await stored.planVerify(parseBackupId(id), access)),
    deleteBackup: async ({ id, access }) => plans.remove(await stored.planRemove(parseBackupId(id), access)),
    restoreBackup: async (request, { signal }) => {
      const id = parseBackupId(request.id);
      const wanted = wantedFromRestore(request);
      const { resource, begins } = await stored.planRestore(id, wanted, request.access, signal);
      return begins === undefined ? nothingToDo(restoreKindName, resource) : plans.restore(begins);
    },
  });
}

/** What CreateBackup would do. */
export async function planCreateBackup(
  { createBackup, commands }: Backups,
  request: CreateBackupRequest,
  { signal }: PlanAsker,
): Promise<PlannedMutation> {
  const { resource, begins } = await createBackup.plan(wantedFromCreateBackup(request), signal);
  return begins === undefined
    ? nothingToDo(backupKindName, resource)
    : createBackupPlans(commands).backup(begins);
}

/** What CreateLV would do with a `data_source`. */
export async function planRestore(
  { restoreVolume, commands }: Backups,
  request: CreateLVRequest,
  source: RestoreSource,
  { signal }: PlanAsker,
): Promise<PlannedMutation> {
  const { resource, begins } = await restoreVolume.planCreate(wantedFromCreate(request), source, signal);
  return begins === undefined
    ? nothingToDo(restoreKindName, resource)
    : createBackupPlans(commands).restore(begins);
}
