import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { type PlannerRegistration, registerPlanners } from "../../operations/planner.ts";
import { backupsNotBuilt, wantedFromCreate, wantedFromRemove, wantedFromResize } from "./volume-requests.ts";
import type { Volumes } from "./volumes.ts";

/** What the calls of proto.LVService would do. */
export function createLvPlanners(volumes: Volumes): PlannerRegistration {
  return registerPlanners(LVService, {
    createLV: async (request, asker) => volumes.planCreate(wantedFromCreate(request), asker),
    resizeLV: async (request, asker) => volumes.planResize(wantedFromResize(request), asker),
    removeLV: async (request, asker) => volumes.planRemove(wantedFromRemove(request), asker),
    createBackup: async () => {
      throw backupsNotBuilt();
    },
  });
}
