import { LVService } from "../../../gen/lvmd/served/lvmd_pb.ts";
import { type PlannerRegistration, registerPlanners } from "../../operations/planner.ts";
import { assertBackups } from "./backups/backup-messages.ts";
import { planCreateBackup, planRestore } from "./backups/planners.ts";
import type { VolumeBackups } from "./backups/volume-backups.ts";
import { parseCreate, wantedFromRemove, wantedFromResize, wantedFromSnapshot } from "./volume-requests.ts";
import type { Volumes } from "./volumes.ts";

/** Creates the planners of proto.LVService. */
export function createLvPlanners(volumes: Volumes, backups: VolumeBackups | undefined): PlannerRegistration {
  return registerPlanners(LVService, {
    createLV: async (request, asker) => {
      const { wanted, source } = parseCreate(request, asker.peer.lvmd);
      return source === undefined
        ? volumes.planCreate(wanted, asker)
        : planRestore(assertBackups(backups), wanted, source, asker);
    },
    createLVSnapshot: async (request, asker) => volumes.planSnapshot(wantedFromSnapshot(request), asker),
    resizeLV: async (request, asker) => volumes.planResize(wantedFromResize(request, asker.peer.lvmd), asker),
    removeLV: async (request, asker) => volumes.planRemove(wantedFromRemove(request, asker.peer.lvmd), asker),
    createBackup: async (request, asker) => planCreateBackup(assertBackups(backups), request, asker),
  });
}
