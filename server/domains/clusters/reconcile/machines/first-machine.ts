import type { ClusterRecord, SlotRecord } from "../../store/records.ts";
import type { ClusterView } from "../plan/cluster-view.ts";
import { hasControlPlaneData } from "../plan/slot-group.ts";
import { marksFrom } from "./machine-marks.ts";

/**
 * Reports whether a machine initializes the cluster instead of joining it: no other machine can be part of it, and it has
 * never run. A cluster that has run lost its data with its control plane, and must not be replaced silently by a new one.
 */
export function makesCluster(
  cluster: Pick<ClusterRecord, "hasRun">,
  slots: readonly SlotRecord[],
  slot: SlotRecord,
): boolean {
  const isFirst = slot.pool === undefined && !hasControlPlaneData(cluster, slots);
  return isFirst && !slots.some((other) => other.uid !== slot.uid && mayRun(other));
}

function mayRun({ pool, state, systemId }: SlotRecord): boolean {
  const states: readonly string[] = ["deploying", "booted", "joined", "draining", "releasing"];
  return pool === undefined && systemId !== undefined && states.includes(state);
}

/**
 * Returns the hostname of a machine that is marked in MAAS as part of the cluster's control plane but unknown to the store,
 * as after a restore from a backup. The cluster may be running on it.
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
