import type { ClusterRecord, SlotRecord } from "../../../store/cluster-records.ts";
import { marksFrom } from "../machine-marks.ts";
import type { ClusterView } from "./plan/cluster-view.ts";
import { hasBeenMade } from "./plan/slot-group.ts";

/**
 * Whether a machine is to make the cluster, instead of joining it: no other can be a part of it, and it has never run. Once it has, its
 * data is lost with its control plane, and nothing makes another in silence.
 */
export function makesCluster(
  cluster: Pick<ClusterRecord, "hasRun">,
  slots: readonly SlotRecord[],
  slot: SlotRecord,
): boolean {
  const isFirst = slot.pool === undefined && !hasBeenMade(cluster, slots);
  return isFirst && !slots.some((other) => other.uid !== slot.uid && mayRun(other));
}

function mayRun({ pool, state, systemId }: SlotRecord): boolean {
  const states: readonly string[] = ["deploying", "booted", "joined", "draining", "releasing"];
  return pool === undefined && systemId !== undefined && states.includes(state);
}

/**
 * A machine that MAAS has as one of the cluster's control plane, and the store has not, as when it was put back from a backup: with it the
 * cluster may run already. By its name.
 */
export function forgottenMachine(
  { uid }: Pick<ClusterRecord, "uid">,
  slots: readonly SlotRecord[],
  { machines }: ClusterView,
): string | undefined {
  const known = new Map(slots.map((slot) => [slot.uid, slot.systemId]));
  const all = "unreadable" in machines ? [] : [...machines.values()];
  const found = all.find(({ annotations, systemId }) => {
    const marks = marksFrom(annotations);
    return marks?.clusterUid === uid && marks.pool === undefined && known.get(marks.slotUid) !== systemId;
  });
  return found?.hostname;
}
