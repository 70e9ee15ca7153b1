import type { SlotRecord } from "../../store/records.ts";
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
 * Plans the changes of a pool: first the number of machines, then the replacement of outdated ones, one at a time. While a
 * machine of the new version is not ready, no further one is replaced. Of the old machines, those that are not ready are
 * replaced first.
 * @param canUpgrade whether the control plane has the version that the pool is to follow
 * @param slots all slots of the cluster that are not released
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
    const message = `its pool is being upgraded to ${group.version}`;
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
    // Which node is the most dispensable is unknown until nodes can be read.
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
      leave: [{ slot: next, message: `replaced by a machine with ${group.version}` }],
    };
  }
  return group.live.length === group.count && areServing(current, view) ? { add: 1, leave: [] } : nothing;
}
