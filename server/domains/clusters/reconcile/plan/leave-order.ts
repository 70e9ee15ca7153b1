import type { SlotRecord, SlotState } from "../../store/records.ts";
import { type ClusterView, nodeOf, readinessOf } from "./cluster-view.ts";

/**
 * A machine to be removed. A control-plane machine that is deploying or booted may have joined etcd already, so it is removed
 * only with the whole cluster; machines of pools can be removed at any time.
 */
export interface SlotLeave {
  readonly uid: string;
  readonly from: SlotState;
  readonly to: "draining" | "releasing" | "released";
  /** The reason, for its history. */
  readonly message: string;
}

/** Plans how a machine is removed: by draining if it may be a node, and at once if MAAS was never called for it. */
export function leaveOf(slot: SlotRecord, view: ClusterView, message: string): SlotLeave {
  const { uid, state } = slot;
  const to = state === "wanted" ? "released" : mayBeNode(slot, view) ? "draining" : "releasing";
  return { uid, from: state, to, message };
}

/**
 * Reports whether pods may run on a machine: it has joined; or it has booted, and its node exists or nodes cannot be read. An
 * adopted machine counts as booted in the store, but may have been a node for a long time.
 */
export function mayBeNode(slot: SlotRecord, view: ClusterView): boolean {
  const { state } = slot;
  return (
    state === "joined" ||
    (state === "booted" && (nodeOf(slot, view) !== undefined || readinessOf(slot, view) === "unseen"))
  );
}

/** Reports whether a machine counts for its pool: one that is being removed does not. */
export function isLive({ state }: Pick<SlotRecord, "state">): boolean {
  return state !== "draining" && state !== "releasing" && state !== "released";
}

/** Orders slots by age, oldest first. Slots of the same change are ordered by the allocation of their machines. */
export function byAge(a: SlotRecord, b: SlotRecord): number {
  return a.createdAtMs - b.createdAtMs || a.sequence - b.sequence || (a.uid < b.uid ? -1 : 1);
}

/**
 * Orders the machines of a pool that has too many, the most dispensable first: not allocated, failed, not ready, not
 * installed yet, not a node yet, outdated version; then the newest. A node whose state is unknown counts as ready.
 */
export function inLeaveOrder(
  slots: readonly SlotRecord[],
  view: ClusterView,
  version: string,
): readonly SlotRecord[] {
  const rank = (slot: SlotRecord): number => {
    const { state } = slot;
    const isReady = readinessOf(slot, view) !== "notReady";
    if (state === "wanted" || state === "candidate") {
      return state === "wanted" ? 0 : 1;
    }
    // A machine that was just adopted must not be removed because of a failed call.
    if (slot.reason !== "" && state !== "booted") {
      return 2;
    }
    if (state === "joined" && !isReady) {
      return 3;
    }
    if (state !== "joined" && state !== "booted") {
      return 4;
    }
    if (!isReady) {
      return 5;
    }
    return slot.k8sVersion === version ? 7 : 6;
  };
  return slots.toSorted((a, b) => rank(a) - rank(b) || byAge(b, a));
}
