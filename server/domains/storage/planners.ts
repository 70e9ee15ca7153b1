import { StorageService } from "../../../gen/hostplane/v1/storage_pb.ts";
import { type PlannerRegistration, registerPlanners } from "../../operations/planner.ts";
import type { CrashChanges } from "./crash-changes.ts";

/** Creates the planners of hostplane.v1.StorageService. */
export function createStoragePlanners(crashChanges: CrashChanges): PlannerRegistration {
  return registerPlanners(StorageService, {
    archiveCrash: ({ id }, { signal }) => crashChanges.planArchive(id, signal),
  });
}
