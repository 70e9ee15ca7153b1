import { BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { backupsOff } from "../../backups/backups-off.ts";
import { plannersOf } from "../../domain/change.ts";
import type { DomainContext, DomainServices } from "../../domain/domain-services.ts";
import { registerPlanRefusal } from "../../operations/planner.ts";
import { registerRefusal } from "../../rpc/call/service-handlers.ts";
import { createBackups } from "./backups.ts";
import { createBackupChanges } from "./changes/backup-changes.ts";
import { createBackupMetrics } from "./monitoring/metrics.ts";
import { createBackupResources } from "./monitoring/resources.ts";
import { createBackupService } from "./service.ts";

type BackupsContext = Pick<DomainContext, "store" | "served" | "operationMessage">;

/** Creates the services for the backups of all domains. If backups are configured in none of them, all calls are refused. */
export function serveBackups({ store, served, operationMessage }: BackupsContext): DomainServices {
  const sources = [...served.values()].flatMap(({ backupSource }) => backupSource ?? []);
  if (!sources.some(({ isOn }) => isOn)) {
    const refusal = () => backupsOff(...sources.map(({ configKey }) => configKey));
    return {
      registrations: [registerRefusal(BackupService, refusal)],
      planners: [registerPlanRefusal(BackupService, refusal)],
      backends: [],
    };
  }
  const backups = createBackups(store, sources);
  const changes = createBackupChanges(backups, operationMessage);
  return {
    inventory: [createBackupResources(store)],
    metrics: [createBackupMetrics(store)],
    registrations: [createBackupService(backups, changes)],
    planners: [plannersOf(BackupService, changes)],
    backends: [],
  };
}
