import { BackupService } from "../../gen/hostplane/v1/backup_pb.ts";
import type { BackupSource } from "../backups/backup-source.ts";
import { backupsOff } from "../backups/backups-off.ts";
import type { DomainServices, ServicesOptions } from "../domain/domain-services.ts";
import { createBackups } from "../domains/backups/backups.ts";
import { createBackupPlanners } from "../domains/backups/planners.ts";
import { createBackupResources } from "../domains/backups/resources.ts";
import { createBackupService } from "../domains/backups/service.ts";
import { operationMessage } from "../domains/operations/operation-messages.ts";
import { registerPlanRefusal } from "../operations/planner.ts";
import { registerRefusal } from "../rpc/service-handlers.ts";

/**
 * Creates the services for the backups of all domains.
 * @param sources of all domains, including those that are not configured; if none is configured, all calls are refused
 */
export function createBackupsDomain(
  { store }: Pick<ServicesOptions, "store">,
  sources: readonly BackupSource[],
): DomainServices {
  if (!sources.some(({ isOn }) => isOn)) {
    const refusal = () => backupsOff(...sources.map(({ configKey }) => configKey));
    return {
      registrations: [registerRefusal(BackupService, refusal)],
      planners: [registerPlanRefusal(BackupService, refusal)],
      backends: [],
    };
  }
  const backups = createBackups(store, sources);
  return {
    inventory: [createBackupResources(store)],
    registrations: [createBackupService(backups, operationMessage)],
    planners: [createBackupPlanners(backups)],
    backends: [],
  };
}
