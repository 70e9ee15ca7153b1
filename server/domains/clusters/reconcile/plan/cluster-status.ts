import { maasReasons } from "../../../../../adapters/maas/reasons.ts";
import type { ClusterRecord, ClusterStatusName, SlotRecord } from "../../store/records.ts";
import { type ClusterView, isServing } from "./cluster-view.ts";
import { isLive } from "./leave-order.ts";
import { isMisconfigured, machineProblemOf } from "./machine-problem.ts";
import { isControlPlaneLost } from "./plan-control-plane.ts";
import { planSlots } from "./plan-slots.ts";
import { groupsOf, isMachineComing, isOutdated } from "./slot-group.ts";
import { statusMessageOf } from "./status-message.ts";

/** How long an API server may be unreachable while it restarts or its address moves to another machine. */
const briefMs = 60_000;
const reachableStatuses: readonly ClusterStatusName[] = ["running", "reconciling", "degraded"];

export interface FoundStatus {
  readonly status: ClusterStatusName;
  /** At most 500 characters, for people; empty when there is nothing to report. */
  readonly message: string;
  /**
   * The cluster matches its spec and is serving. The generation is then settled, and the first time the cluster counts as
   * having run.
   */
  readonly isSettled: boolean;
  /** Nothing is changing, so the next check can wait for `watchMs` instead of `pollMs`. */
  readonly isCalm: boolean;
}

/**
 * Determines a cluster's status in the terms of the API (cnct.kaas.api.ClusterStatus).
 * @param slots all slots of the cluster that are not released, at the end of a pass
 */
export function clusterStatusOf(
  cluster: ClusterRecord,
  slots: readonly SlotRecord[],
  view: ClusterView,
): FoundStatus {
  const plan = planSlots(cluster, slots, view, () => "");
  const isPlanned = plan.leave.length > 0 || plan.add.length > 0;
  const isComplete = !isPlanned && hasAllMachines(cluster, slots);
  const isPlaced = isComplete && slots.every(isJoined);
  const isReachable = view.api?.isReachable === true;
  const isSettled =
    !cluster.isDeleting &&
    isComplete &&
    isReachable &&
    slots.every((slot) => !isLive(slot) || isServing(slot, view));
  const isLost = isControlPlaneLost(cluster, slots);
  const problems = problemsOf(slots, view, plan.leave.length > 0);
  const status = statusFrom(cluster, slots, view, {
    isSettled,
    isLost,
    isPlaced,
    hasProblems: problems.size > 0,
  });
  // Neither changes without intervention.
  const isAtRest = isLost || (isPlaced && isReachable && (status === "running" || status === "degraded"));
  return {
    status,
    message: statusMessageOf(cluster, slots, view, { status, isSettled, isLost, problems }),
    isSettled,
    isCalm: isAtRest && slots.every(isJoined) && !isPlanned && !cluster.isDeleting,
  };
}

interface Found {
  readonly isSettled: boolean;
  readonly isLost: boolean;
  readonly isPlaced: boolean;
  readonly hasProblems: boolean;
}

function statusFrom(
  cluster: ClusterRecord,
  slots: readonly SlotRecord[],
  view: ClusterView,
  { isSettled, isLost, isPlaced, hasProblems }: Found,
): ClusterStatusName {
  if (cluster.isDeleting) {
    return "stopping";
  }
  if (!cluster.hasRun && !isSettled) {
    if (isLost) {
      return "error";
    }
    return slots.some((slot) => isLive(slot) && isMisconfigured(slot)) ? "error" : "provisioning";
  }
  if (view.api?.isReachable !== true) {
    const isBrief = !isLost && view.api !== undefined && view.api.forMs < briefMs;
    return isBrief && reachableStatuses.includes(cluster.status) ? cluster.status : "error";
  }
  if (isLost || hasProblems) {
    return "degraded";
  }
  return isSettled && isPlaced ? "running" : "reconciling";
}

/** Returns the problems that need intervention, by slot uid. */
function problemsOf(
  slots: readonly SlotRecord[],
  view: ClusterView,
  isMakingRoom: boolean,
): ReadonlyMap<string, string> {
  const isComing = (slot: SlotRecord) =>
    slot.reason === maasReasons.NO_MACHINE.id && (isMakingRoom || isMachineComing(slot.instanceType, slots));
  return new Map(
    slots.flatMap((slot) => {
      const problem = isComing(slot) ? undefined : machineProblemOf(slot, view);
      return problem === undefined ? [] : [[slot.uid, problem] as const];
    }),
  );
}

function isJoined({ state }: SlotRecord): boolean {
  return state === "joined";
}

function hasAllMachines(cluster: ClusterRecord, slots: readonly SlotRecord[]): boolean {
  return groupsOf(cluster, slots).every(
    (group) => group.live.length === group.count && !group.live.some((slot) => isOutdated(slot, group)),
  );
}
