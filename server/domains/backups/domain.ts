import { BackupService } from "../../../gen/hostplane/v1/backup_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";
import { backupCallReasons } from "./call-reasons.ts";
import { backupResourceTypes } from "./monitoring/resource-types.ts";

/** Backups of the volumes of other domains. */
export const backupsDomain = defineGatewayDomain({
  name: "backups",
  services: [{ service: BackupService, rules: { DeleteBackup: { role: "admin" } } }],
  resourceTypes: [backupResourceTypes],
  isHostBound: true,
  reasons: backupCallReasons,
  async serve(context) {
    const { serveBackups } = await import("./serve.ts");
    return serveBackups(context);
  },
});
