import { StoragePoolService } from "../../../../gen/hostplane/v1/storage_pool_pb.ts";
import { type PlannerRegistration, registerPlanners } from "../../../operations/planner.ts";
import type { SharedPool } from "./shared-pool.ts";

/** Creates the planners of hostplane.v1.StoragePoolService. */
export function createStoragePoolPlanners(shared: SharedPool): PlannerRegistration {
  return registerPlanners(StoragePoolService, {
    expandStoragePool: ({ minBytes }, { signal }) => shared.planExpand(minBytes, signal),
    shrinkStoragePool: ({ maxBytes }, { signal }) => shared.planShrink(maxBytes, signal),
    backUpStoragePool: (_request, { signal }) => shared.planBackUp(signal),
  });
}
