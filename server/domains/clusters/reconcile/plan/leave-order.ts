import type { SlotRecord, SlotState } from "../../../../store/cluster-records.ts";
import { type ClusterView, nodeOf, readinessOf } from "./cluster-view.ts";

/**
 * A machine that is to go. One of the control plane that is deploying or booted may have joined etcd already, so it goes only with the
 * whole cluster; those of pools go at any time.
 */
export interface SlotLeave {
  readonly uid: string;
  readonly from: SlotState;
  readonly to: "draining" | "releasing" | "released";
  /** Why, for its history. */
  readonly message: string;
}

/** How a machine goes: by being drained if it may be a node, and at once if nothing was ever asked of MAAS for it. */
export function leaveOf(slot: SlotRecord, view: ClusterView, message: string): SlotLeave {
  const { uid, state } = slot;
  const to = state === "wanted" ? "released" : mayBeNode(slot, view) ? "draining" : "releasing";
  return { uid, from: state, to, message };
}

/**
 * Whether pods may run on a machine: it has joined; or it has booted, and the cluster shows it as a node or cannot be asked. One that
 * was adopted has booted as far as the store knows, and may be a node for long.
 */
export function mayBeNode(slot: SlotRecord, view: ClusterView): boolean {
  const { state } = slot;
  return (
    state === "joined" ||
    (state === "booted" && (nodeOf(slot, view) !== undefined || readinessOf(slot, view) === "unseen"))
  );
}

/** Whether a machine counts for its pool: one that is on its way out does not. */
export function isLive({ state }: Pick<SlotRecord, "state">): boolean {
  return state !== "draining" && state !== "releasing" && state !== "released";
}

/** The oldest first; of those of one change the one that took its machine first. */
export function byAge(a: SlotRecord, b: SlotRecord): number {
  return a.createdAtMs - b.createdAtMs || a.sequence - b.sequence || (a.uid < b.uid ? -1 : 1);
}

/**
 * Machines of a pool that has too many, those first that are missed least: what was not taken, has failed, is not ready, is not
 * installed yet, is not a node yet, has another version than it is to have; then the newest. A node that cannot be seen is taken for
 * ready.
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
    // What somebody has just adopted is not to go for a call that failed.
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
