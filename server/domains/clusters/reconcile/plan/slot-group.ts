import { maasReasons } from "../../../../../adapters/maas/reasons.ts";
import { instanceTypeFrom } from "../../bootstrap/instance-type.ts";
import { kubernetesVersionFrom } from "../../bootstrap/kubernetes-version.ts";
import type { ClusterRecord, PoolRecord, SlotRecord } from "../../store/records.ts";
import { type ClusterView, isServing, machineOf } from "./cluster-view.ts";
import { isLive } from "./leave-order.ts";

/** The control plane or a pool, with its machines. */
export interface SlotGroup {
  readonly count: number;
  readonly instanceType: string;
  /** The version in the spec. */
  readonly version: string;
  /** Machines that are not being removed. */
  readonly live: readonly SlotRecord[];
  readonly isDraining: boolean;
}

/** Planned changes of a group. */
export interface GroupPlan {
  readonly add: number;
  readonly leave: readonly { readonly slot: SlotRecord; readonly message: string }[];
}

/** Returns the group of the control plane, whose machines have no pool. */
export function controlPlaneOf(cluster: ClusterRecord, slots: readonly SlotRecord[]): SlotGroup {
  const mine = slots.filter(({ pool }) => pool === undefined);
  return groupFrom(cluster.controlPlane, cluster.controlPlaneVersion, mine);
}

/** Returns the group of a pool. Machines that were created for a former pool of the same name are not in it. */
export function poolGroupOf(
  cluster: ClusterRecord,
  pool: PoolRecord,
  slots: readonly SlotRecord[],
): SlotGroup {
  return groupFrom(
    pool,
    cluster.k8sVersion,
    slots.filter((slot) => isOfPool(slot, pool)),
  );
}

/** Returns the control plane's group, followed by those of the pools in their order. */
export function groupsOf(cluster: ClusterRecord, slots: readonly SlotRecord[]): readonly SlotGroup[] {
  return [controlPlaneOf(cluster, slots), ...cluster.pools.map((pool) => poolGroupOf(cluster, pool, slots))];
}

/** Reports whether a machine belongs to the pool. One created for a former pool of the same name does not. */
export function isOfPool(slot: SlotRecord, pool: PoolRecord): boolean {
  const labelsOf = (labels: PoolRecord["labels"]) =>
    labels
      .map(({ name, value }) => `${name}=${value}`)
      .toSorted()
      .join();
  return (
    slot.pool === pool.name &&
    slot.instanceType === pool.instanceType &&
    labelsOf(slot.labels) === labelsOf(pool.labels)
  );
}

/** Reports whether a machine has another version of Kubernetes than the spec. */
export function isOutdated(slot: SlotRecord, group: SlotGroup): boolean {
  return slot.k8sVersion !== group.version;
}

/**
 * Reports whether a cluster has data that only its control plane has: it has run, or has nodes.
 * @param slots all slots of the cluster that are not released
 */
export function hasControlPlaneData(
  { hasRun }: Pick<ClusterRecord, "hasRun">,
  slots: readonly SlotRecord[],
): boolean {
  return hasRun || slots.some(({ state }) => state === "joined" || state === "draining");
}

/**
 * Reports whether nothing was installed on a machine yet, so that it can be replaced. A machine that MAAS does not confirm as
 * such counts as installed, since a store restored from a backup knows less than MAAS.
 */
export function isUntouched(slot: SlotRecord, view: ClusterView): boolean {
  if (slot.state === "wanted") {
    return true;
  }
  const isBefore = slot.state === "candidate" || slot.state === "allocated" || slot.state === "annotated";
  const status = machineOf(slot, view)?.status;
  return (
    isBefore &&
    !("unreadable" in view.machines) &&
    (status === undefined || status === "allocated" || status === "ready")
  );
}

/**
 * Reports whether an upgrade can only continue if a machine is removed before its successor exists: it only waits for the
 * successor, and no machine is free or will become free by itself.
 * @param slots all slots of the cluster
 */
export function isShortOfMachine(group: SlotGroup, slots: readonly SlotRecord[], view: ClusterView): boolean {
  const [waiting, ...others] = group.live.filter(({ state }) => state !== "joined");
  const type = instanceTypeFrom(group.instanceType);
  const version = kubernetesVersionFrom(group.version);
  return (
    waiting !== undefined &&
    others.length === 0 &&
    waiting.state === "wanted" &&
    waiting.reason === maasReasons.NO_MACHINE.id &&
    !isMachineComing(group.instanceType, slots) &&
    type !== undefined &&
    version !== undefined &&
    view.images?.seriesOf(type, version) !== undefined
  );
}

/** Reports whether a machine of the type is being released to MAAS without problems. */
export function isMachineComing(instanceType: string, slots: readonly SlotRecord[]): boolean {
  return slots.some((slot) => !isLive(slot) && slot.instanceType === instanceType && slot.reason === "");
}

/** Reports whether all these machines are serving; true if there are none. */
export function areServing(slots: readonly SlotRecord[], view: ClusterView): boolean {
  return slots.every((slot) => isServing(slot, view));
}

function groupFrom(
  spec: Pick<PoolRecord, "count" | "instanceType">,
  version: string,
  slots: readonly SlotRecord[],
): SlotGroup {
  const { count, instanceType } = spec;
  const isDraining = slots.some(({ state }) => state === "draining");
  return { count, instanceType, version, live: slots.filter(isLive), isDraining };
}
