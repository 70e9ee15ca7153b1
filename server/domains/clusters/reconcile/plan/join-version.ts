import type { ClusterRecord, PoolRecord, SlotRecord } from "../../../../store/cluster-records.ts";
import { compareKubernetesVersions, kubernetesVersionFrom } from "../../bootstrap/kubernetes-version.ts";
import { joinRefusal } from "../../bootstrap/version-skew.ts";

/** Whether API servers run, or are to run, of another version than the control plane is to have. */
export function isControlPlaneChanging(cluster: ClusterRecord, slots: readonly SlotRecord[]): boolean {
  return apiServersOf(slots).some(({ k8sVersion }) => k8sVersion !== cluster.controlPlaneVersion);
}

/**
 * The version that a new machine of a pool is made with: what the cluster is to have; while its control plane is not there yet, the
 * newest that workers of its type have now and that can join. Undefined: none can join before the control plane is upgraded.
 * @param slots all of the cluster
 */
export function joinVersionOf(
  cluster: ClusterRecord,
  pool: PoolRecord,
  slots: readonly SlotRecord[],
): string | undefined {
  if (!isControlPlaneChanging(cluster, slots)) {
    return cluster.k8sVersion;
  }
  const servers = apiServersOf(slots).map(({ k8sVersion }) => k8sVersion);
  const ofWorkers = slots
    .filter((slot) => slot.pool !== undefined && slot.instanceType === pool.instanceType)
    .map(({ k8sVersion }) => k8sVersion)
    .toSorted((a, b) => compare(b, a));
  const candidates = [cluster.k8sVersion, ...ofWorkers, ...servers.toSorted(compare)];
  return candidates.find((version) => servers.every((server) => canJoin(version, server)));
}

/** Machines of the control plane that are not given back yet: what leaves may still answer. */
function apiServersOf(slots: readonly SlotRecord[]): readonly SlotRecord[] {
  return slots.filter(
    ({ pool, state }) => pool === undefined && state !== "releasing" && state !== "released",
  );
}

function canJoin(node: string, server: string): boolean {
  const [own, theirs] = [kubernetesVersionFrom(node), kubernetesVersionFrom(server)];
  return own !== undefined && theirs !== undefined && joinRefusal(own, theirs) === undefined;
}

function compare(a: string, b: string): number {
  const [one, other] = [kubernetesVersionFrom(a), kubernetesVersionFrom(b)];
  return one === undefined || other === undefined ? 0 : compareKubernetesVersions(one, other);
}
