import { BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { type PlannerRegistration, registerPlanners } from "../../operations/planner.ts";
import { parseBackupId, wantedFromRestore } from "./backup-messages.ts";
import type { Backups } from "./backups.ts";

/** Creates the planners of hostplane.v1.BackupService. */
export function createBackupPlanners(backups: Backups): PlannerRegistration {
  return registerPlanners(BackupService, {
    verifyBackup: async ({ id, access }) => backups.planVerify(parseBackupId(id), access),
    deleteBackup: async ({ id, access }) => backups.planRemove(parseBackupId(id), access),
    restoreBackup: async (request, { signal }) =>
      backups.planRestore(parseBackupId(request.id), wantedFromRestore(request), request.access, signal),
  });
}
