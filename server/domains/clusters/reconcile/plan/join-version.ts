import { compareKubernetesVersions, kubernetesVersionFrom } from "../../bootstrap/kubernetes-version.ts";
import { joinRefusal } from "../../bootstrap/version-skew.ts";
import type { ClusterRecord, PoolRecord, SlotRecord } from "../../store/records.ts";

/** Reports whether API servers run, or will run, a version other than the control plane's spec. */
export function isControlPlaneChanging(cluster: ClusterRecord, slots: readonly SlotRecord[]): boolean {
  return apiServersOf(slots).some(({ k8sVersion }) => k8sVersion !== cluster.controlPlaneVersion);
}

/**
 * Returns the version for a new machine of a pool: the spec's. While the control plane does not have its version yet, the
 * newest version among the existing workers of the type and the API servers that can join. Undefined when none can join
 * before the control plane is upgraded.
 * @param slots all slots of the cluster
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

/** Control-plane machines that are not being released: a draining one may still serve. */
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
