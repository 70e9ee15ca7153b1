import { BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import type { BackupSource } from "../../backups/backup-source.ts";
import { backupsOff } from "../../backups/backups-off.ts";
import type { DomainServices, ServicesOptions } from "../../domain/domain-services.ts";
import { createBackups } from "./backups.ts";
import { createBackupPlanners } from "./planners.ts";
import { createBackupResources } from "./resources.ts";
import { createBackupService } from "./service.ts";
import { operationMessage } from "../operations/operation-messages.ts";
import { registerPlanRefusal } from "../../operations/planner.ts";
import { registerRefusal } from "../../rpc/service-handlers.ts";

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
