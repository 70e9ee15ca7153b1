import { setTimeout as sleep } from "node:timers/promises";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { watchState } from "../../../rpc/streams/watch-state.ts";
import type { Store } from "../../../store/store.ts";
import { clusterReasons } from "../reasons.ts";
import { isLive } from "../reconcile/plan/leave-order.ts";
import { clusterResource } from "../specs/cluster-resource.ts";
import type { SlotRecord } from "../store/records.ts";
import type { ClusterWithSlots } from "../store/rows.ts";

/** The cluster that an operation follows. A later cluster of the same name has another uid. */
export interface FollowedCluster {
  readonly name: string;
  readonly uid: string;
}

/** Maximum delay before a change is noticed. */
const restMs = 500;

type ClusterStore = Pick<Store, "run" | "subscribe">;

/**
 * Waits until the reconciler has brought a cluster into the expected state.
 * @param isThere called with the cluster immediately and after each change; with undefined once it is gone
 * @throws the signal's reason, and what `isThere` throws
 */
export async function followCluster(
  store: ClusterStore,
  { name, uid }: FollowedCluster,
  signal: AbortSignal,
  isThere: (found: ClusterWithSlots | undefined) => boolean,
): Promise<void> {
  const subscribe = (wake: () => void) => store.subscribe("clusters", wake);
  const read = () => store.run("clusters.get", { name });
  for await (const found of watchState(subscribe, read, signal)) {
    if (isThere(found?.cluster.uid === uid ? found : undefined)) {
      return;
    }
    // Each change of any cluster wakes the operations of all clusters.
    await sleep(restMs, undefined, { signal }).catch(() => {});
  }
  throw signal.reason;
}

/**
 * Returns the cluster if it exists and is not being deleted.
 * @throws InfraError CLUSTER_STOPPING otherwise
 */
export function assertStays(found: ClusterWithSlots | undefined, name: string): ClusterWithSlots {
  if (found === undefined || found.cluster.isDeleting) {
    const state = found === undefined ? "was deleted" : "is being deleted";
    throw new InfraError(clusterReasons.CLUSTER_STOPPING, `${name} ${state}`, {
      resource: clusterResource(name),
    });
  }
  return found;
}

/** Describes the progress of the machines for people: `2 of 3 machines have joined; …`. */
export function describeProgress({ cluster, slots }: ClusterWithSlots): string {
  const desired = [cluster.controlPlane, ...cluster.pools].reduce((sum, { count }) => sum + count, 0);
  const joined = `${slots.filter(isJoined).length} of ${desired} machines have joined`;
  return cluster.message === "" ? joined : `${joined}; ${cluster.message}`;
}

/** Reports whether a machine is a node of its cluster. */
export function isJoined({ state }: SlotRecord): boolean {
  return state === "joined";
}

/** Reports whether the spec of the generation is reached and every machine to be removed is gone. */
export function isSettled({ cluster, slots }: ClusterWithSlots, generation: number): boolean {
  return cluster.settledGeneration >= generation && slots.every(isLive);
}
