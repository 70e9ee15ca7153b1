import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import { maxMachines } from "../bootstrap/names.ts";
import { clusterReasons } from "../reasons.ts";
import type { ClusterRecord, SlotRecord } from "../store/records.ts";
import type { ClusterWithSlots } from "../store/rows.ts";
import { assertPoolsCount, type NodePoolSpec, type PoolSize } from "./cluster-requests.ts";
import { clusterResource } from "./cluster-resource.ts";

/**
 * Rejects clusters that are larger than Kubernetes supports.
 * @param field the request's field with the pools
 * @throws InfraError INVALID_FIELD
 */
export function assertClusterSize(
  controlPlane: Pick<ClusterRecord["controlPlane"], "count">,
  pools: readonly Pick<PoolSize, "count">[],
  field: string,
): void {
  assertPoolsCount(pools, field);
  const machines = pools.reduce((sum, { count }) => sum + count, controlPlane.count);
  if (machines > maxMachines) {
    throw invalidField(field, `expected at most ${maxMachines} machines in the cluster, got ${machines}`);
  }
}

/**
 * Rejects pools that already exist, and names whose former pool still has machines that have not started to leave: they would
 * be counted as the new pool's.
 * @throws InfraError POOL_EXISTS, POOL_STOPPING
 */
export function assertPoolsAreNew(
  { cluster, slots }: ClusterWithSlots,
  pools: readonly NodePoolSpec[],
): void {
  const { name: of } = cluster;
  const resource = clusterResource(of);
  for (const { name } of pools) {
    if (cluster.pools.some((pool) => pool.name === name)) {
      throw new InfraError(clusterReasons.POOL_EXISTS, `${of} already has a node pool ${name}`, { resource });
    }
    const left = slots.filter(
      ({ pool, state }) => pool === name && state !== "draining" && state !== "releasing",
    );
    if (left.length > 0) {
      throw new InfraError(
        clusterReasons.POOL_STOPPING,
        `${left.length} machines of the deleted node pool ${name} of ${of} are not being removed yet; try again in a moment`,
        { resource, retryAfterMs: 1_000 },
      );
    }
  }
}

/** @throws InfraError POOL_NOT_FOUND that names all missing pools */
export function assertHasPools({ name: of, pools }: ClusterRecord, names: readonly string[]): void {
  const missing = names.filter((name) => !pools.some((pool) => pool.name === name));
  if (missing.length > 0) {
    throw new InfraError(clusterReasons.POOL_NOT_FOUND, `${of} has no node pool ${missing.join(", ")}`, {
      resource: clusterResource(of),
    });
  }
}

/** Reports whether any machine has a version other than its spec. */
export function isUpgrading(found: ClusterWithSlots): boolean {
  return outdatedSlots(found).length > 0;
}

/** @throws InfraError UPGRADE_IN_PROGRESS */
export function assertNotUpgrading(found: ClusterWithSlots): void {
  const { cluster, slots } = found;
  const outdated = outdatedSlots(found);
  if (outdated.length > 0) {
    throw new InfraError(
      clusterReasons.UPGRADE_IN_PROGRESS,
      `${cluster.name} is being upgraded to ${cluster.k8sVersion}: ${outdated.length} of ${slots.length} machines have another version`,
      { resource: clusterResource(cluster.name) },
    );
  }
}

/** A machine that is being released is no longer a node. */
function outdatedSlots({ cluster, slots }: ClusterWithSlots): readonly SlotRecord[] {
  return slots.filter(
    ({ pool, k8sVersion, state }) =>
      state !== "releasing" &&
      k8sVersion !== (pool === undefined ? cluster.controlPlaneVersion : cluster.k8sVersion),
  );
}
