import type { SlotRecord } from "../../../../store/cluster-records.ts";
import { type ClusterView, readinessOf } from "./cluster-view.ts";
import { byAge, inLeaveOrder, mayBeNode } from "./leave-order.ts";
import {
  areServing,
  type GroupPlan,
  isOutdated,
  isShortOfMachine,
  isUntouched,
  type SlotGroup,
} from "./slot-group.ts";

/**
 * What is to change of a pool: its number of machines, and then, one after the other, those that have another version. As long as
 * machines of the new version are not ready no further one is replaced; of the old ones those go first that are not ready.
 * @param canUpgrade whether the control plane is where the pool is to follow
 * @param slots all of the cluster that are not released
 */
export function planPool(
  group: SlotGroup,
  canUpgrade: boolean,
  slots: readonly SlotRecord[],
  view: ClusterView,
): GroupPlan {
  const outdated = canUpgrade ? group.live.filter((slot) => isOutdated(slot, group)) : [];
  const replaced = outdated.filter((slot) => isUntouched(slot, view));
  const kept = group.live.filter((slot) => !replaced.includes(slot));
  const surplus = kept.length - group.count;
  if (surplus < 0 || replaced.length > 0) {
    const message = `its pool is to have ${group.version}`;
    return { add: Math.max(-surplus, 0), leave: replaced.map((slot) => ({ slot, message })) };
  }
  if (surplus > 1 || (surplus === 1 && outdated.length === 0)) {
    return shed(group, surplus, view);
  }
  return outdated.length === 0 || group.isDraining
    ? nothing
    : upgrade(group, outdated.toSorted(byAge), slots, view);
}

const nothing: GroupPlan = { add: 0, leave: [] };

function shed(group: SlotGroup, surplus: number, view: ClusterView): GroupPlan {
  const leave = inLeaveOrder(group.live, view, group.version)
    .slice(0, surplus)
    // Which node is missed least is not known before nodes are seen.
    .filter((slot) => !mayBeNode(slot, view) || readinessOf(slot, view) !== "unseen")
    .map((slot) => ({ slot, message: "its pool has enough machines" }));
  return { add: 0, leave };
}

function upgrade(
  group: SlotGroup,
  outdated: readonly SlotRecord[],
  slots: readonly SlotRecord[],
  view: ClusterView,
): GroupPlan {
  const unready = outdated.filter((slot) => readinessOf(slot, view) === "notReady");
  const next = unready[0] ?? outdated[0];
  const current = group.live.filter((slot) => !isOutdated(slot, group));
  const joined = current.filter(({ state }) => state === "joined");
  const hasSettled = outdated.every(
    (slot) => slot.state === "joined" && readinessOf(slot, view) !== "unseen",
  );
  if (next === undefined || !hasSettled) {
    return nothing;
  }
  const isTurn =
    group.live.length > group.count &&
    (areServing(current, view) || (areServing(joined, view) && isShortOfMachine(group, slots, view)));
  if (isTurn) {
    return {
      add: 0,
      leave: [{ slot: next, message: `another machine of ${group.version} takes its place` }],
    };
  }
  return group.live.length === group.count && areServing(current, view) ? { add: 1, leave: [] } : nothing;
}
