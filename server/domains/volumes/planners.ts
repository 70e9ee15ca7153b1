import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { type PlannerRegistration, registerPlanners } from "../../operations/planner.ts";
import { assertBackups, sourceFromCreate } from "./backups/backup-messages.ts";
import { planCreateBackup, planRestore } from "./backups/planners.ts";
import type { VolumeBackups } from "./backups/volume-backups.ts";
import { wantedFromCreate, wantedFromRemove, wantedFromResize } from "./volume-requests.ts";
import type { Volumes } from "./volumes.ts";

/** What the calls of proto.LVService would do. */
export function createLvPlanners(volumes: Volumes, backups: VolumeBackups | undefined): PlannerRegistration {
  return registerPlanners(LVService, {
    createLV: async (request, asker) => {
      const source = sourceFromCreate(request);
      return source === undefined
        ? volumes.planCreate(wantedFromCreate(request), asker)
        : planRestore(assertBackups(backups), request, source, asker);
    },
    resizeLV: async (request, asker) => volumes.planResize(wantedFromResize(request), asker),
    removeLV: async (request, asker) => volumes.planRemove(wantedFromRemove(request), asker),
    createBackup: async (request, asker) => planCreateBackup(assertBackups(backups), request, asker),
  });
}
