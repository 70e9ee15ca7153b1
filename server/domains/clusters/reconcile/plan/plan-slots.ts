import type { ClusterRecord, NewSlot, PoolRecord, SlotRecord } from "../../store/records.ts";
import type { ClusterView } from "./cluster-view.ts";
import { isControlPlaneChanging, joinVersionOf } from "./join-version.ts";
import { isLive, leaveOf, type SlotLeave } from "./leave-order.ts";
import { isControlPlaneLost, planControlPlane } from "./plan-control-plane.ts";
import { planPool } from "./plan-pool.ts";
import { isOfPool, poolGroupOf } from "./slot-group.ts";

export interface SlotPlan {
  readonly add: readonly NewSlot[];
  readonly leave: readonly SlotLeave[];
}

/**
 * Plans which machines a cluster gains and loses, from its spec and the store. The observed state can only delay a decision:
 * no machine is removed because something could not be read.
 * @param slots all slots of the cluster that are not released
 */
export function planSlots(
  cluster: ClusterRecord,
  slots: readonly SlotRecord[],
  view: ClusterView,
  newUid: () => string,
): SlotPlan {
  if (cluster.isDeleting) {
    return { add: [], leave: slots.flatMap(leaveForGood) };
  }
  const controlPlane = planControlPlane(cluster, slots, view);
  const isLost = isControlPlaneLost(cluster, slots);
  const canUpgrade = !isLost && !isControlPlaneChanging(cluster, slots);
  const pools = cluster.pools.map((pool) => {
    const plan = planPool(poolGroupOf(cluster, pool, slots), canUpgrade, slots, view);
    const version = isLost || plan.add === 0 ? undefined : joinVersionOf(cluster, pool, slots);
    const add = version === undefined ? [] : newSlots(plan.add, pool.name, pool, version, newUid);
    return { add, leave: plan.leave };
  });
  const orphans = slots.filter(
    (slot) => slot.pool !== undefined && isLive(slot) && !cluster.pools.some((pool) => isOfPool(slot, pool)),
  );
  const leave = [controlPlane, ...pools].flatMap((plan) => plan.leave);
  return {
    add: [
      ...newSlots(controlPlane.add, undefined, cluster.controlPlane, cluster.controlPlaneVersion, newUid),
      ...pools.flatMap(({ add }) => add),
    ],
    leave: [
      ...leave.map(({ slot, message }) => leaveOf(slot, view, message)),
      ...orphans.map((slot) => leaveOf(slot, view, "its pool is deleted")),
    ],
  };
}

/** The pods of a deleted cluster cannot move anywhere, so nothing is drained. */
function leaveForGood(slot: SlotRecord): readonly SlotLeave[] {
  if (slot.state === "releasing" || slot.state === "released") {
    return [];
  }
  const to = slot.state === "wanted" ? "released" : "releasing";
  return [{ uid: slot.uid, from: slot.state, to, message: "the cluster is deleted" }];
}

function newSlots(
  count: number,
  pool: string | undefined,
  { instanceType, labels }: Omit<PoolRecord, "name">,
  k8sVersion: string,
  newUid: () => string,
): readonly NewSlot[] {
  return Array.from({ length: count }, () => ({ uid: newUid(), pool, instanceType, labels, k8sVersion }));
}
