import { PodService } from "../../../gen/hostplane/v1/pod_pb.ts";
import { type PlannerRegistration, registerPlanners } from "../../operations/planner.ts";
import type { PodChanges } from "./changes/pod-changes.ts";

/** Creates the dry runs of the calls of hostplane.v1.PodService. */
export function createPodPlanners(changes: PodChanges): PlannerRegistration {
  return registerPlanners(PodService, {
    startPod: (request, { signal }) => changes.startPod.plan(request, signal),
    stopPod: (request, { signal }) => changes.stopPod.plan(request, signal),
    killPod: (request, { signal }) => changes.killPod.plan(request, signal),
    removePod: (request, { signal }) => changes.removePod.plan(request, signal),
    pullImage: (request, { signal }) => changes.pullImage.plan(request, signal),
    removeImage: (request, { signal }) => changes.removeImage.plan(request, signal),
  });
}
