import type { ClusterRecord, SlotRecord } from "../../store/records.ts";
import type { ClusterView } from "./cluster-view.ts";
import { byAge, inLeaveOrder } from "./leave-order.ts";
import {
  areServing,
  controlPlaneOf,
  type GroupPlan,
  hasControlPlaneData,
  isOutdated,
  isShortOfMachine,
  isUntouched,
  type SlotGroup,
} from "./slot-group.ts";

/**
 * Reports whether no machine with the cluster's data (its etcd) is left. A new control plane would be a different cluster.
 * @param slots all slots of the cluster that are not released
 */
export function isControlPlaneLost(cluster: ClusterRecord, slots: readonly SlotRecord[]): boolean {
  return (
    hasControlPlaneData(cluster, slots) &&
    !slots.some(
      ({ pool, state }) =>
        pool === undefined && (state === "booted" || state === "joined" || state === "draining"),
    )
  );
}

/**
 * Plans the changes of a control plane. Its size is never reduced. Machines of another version are replaced one at a time,
 * and only while all of the control plane is serving. A machine that may have joined etcd and is not ready is never removed:
 * it becomes ready or fails by itself.
 * @param slots all slots of the cluster that are not released
 */
export function planControlPlane(
  cluster: ClusterRecord,
  slots: readonly SlotRecord[],
  view: ClusterView,
): GroupPlan {
  const group = controlPlaneOf(cluster, slots);
  const untouched = group.live.filter((slot) => isUntouched(slot, view));
  if (isControlPlaneLost(cluster, slots)) {
    return { add: 0, leave: untouched.map((slot) => ({ slot, message: "the control plane is lost" })) };
  }
  const replaced = untouched.filter((slot) => isOutdated(slot, group));
  const missing = group.count - (group.live.length - replaced.length);
  if (missing > 0 || replaced.length > 0) {
    const message = `the control plane is being upgraded to ${group.version}`;
    return { add: Math.max(missing, 0), leave: replaced.map((slot) => ({ slot, message })) };
  }
  const surplus = group.live.length - group.count;
  const outdated = group.live.filter((slot) => isOutdated(slot, group)).toSorted(byAge);
  if (surplus > 0) {
    const spare = outdated.length > 0 ? surplus - 1 : surplus;
    const idle = inLeaveOrder(untouched, view, group.version).slice(0, spare);
    if (idle.length > 0) {
      return { add: 0, leave: idle.map((slot) => ({ slot, message: hasEnough })) };
    }
  }
  if (group.isDraining) {
    return nothing;
  }
  const isWhole = areServing(group.live, view);
  if (surplus > 0) {
    const joined = group.live.filter(({ state }) => state === "joined");
    // With three or more machines, etcd keeps its majority while one is missing.
    const canLeaveFirst =
      group.count >= 3 && areServing(joined, view) && isShortOfMachine(group, slots, view);
    return isWhole || (canLeaveFirst && surplus === 1) ? turnOf(group, outdated[0]) : nothing;
  }
  // Without an endpoint, the cluster's address is that of its only control-plane machine, which therefore cannot be replaced.
  return isWhole && outdated.length > 0 && cluster.endpoint !== undefined ? { add: 1, leave: [] } : nothing;
}

const nothing: GroupPlan = { add: 0, leave: [] };
const hasEnough = "the control plane has enough machines";

function turnOf(group: SlotGroup, outdated: SlotRecord | undefined): GroupPlan {
  const slot = outdated ?? group.live.toSorted(byAge).at(-1);
  const message = outdated === undefined ? hasEnough : `replaced by a machine with ${group.version}`;
  return slot === undefined ? nothing : { add: 0, leave: [{ slot, message }] };
}
