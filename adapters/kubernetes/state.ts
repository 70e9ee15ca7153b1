import type { Part } from "../host/part-of-state.ts";
import type { KubernetesDeployment, KubernetesState } from "./adapter.ts";
import { koorCluster } from "./parse-koor.ts";
import { node } from "./parse-node.ts";
import { parseObjects } from "./parse-objects.ts";
import { blockPool, cephCluster, filesystem, objectStore } from "./parse-rook.ts";
import { deployment, type Pod, pod } from "./parse-workloads.ts";
import type { WatchedName } from "./resources.ts";

/** Objects as an API server returns them. */
export type RawParts = Readonly<Record<WatchedName, Part<readonly unknown[]>>>;

/**
 * Derives the state of a cluster from its listed objects. Never throws: a part with an invalid object is missing, and
 * names the object.
 */
export function stateFrom(version: string | undefined, raw: RawParts): KubernetesState {
  const pods = parseObjects("Pod", raw.pods, pod);
  const deployments = parseObjects("Deployment", raw.deployments, deployment);
  return {
    version,
    nodes: parseObjects("Node", raw.nodes, node),
    storagePods: "missing" in pods ? pods : { ok: pods.ok.filter(isStoragePod).map(storagePod) },
    deployments: "missing" in deployments ? deployments : { ok: withPodNodes(deployments.ok, pods) },
    cephClusters: parseObjects("CephCluster", raw.cephClusters, cephCluster),
    blockPools: parseObjects("CephBlockPool", raw.blockPools, blockPool),
    filesystems: parseObjects("CephFilesystem", raw.filesystems, filesystem),
    objectStores: parseObjects("CephObjectStore", raw.objectStores, objectStore),
    koorClusters: parseObjects("KoorCluster", raw.koorClusters, koorCluster),
  };
}

function isStoragePod({ isStorage, hasEnded }: Pod): boolean {
  return isStorage && !hasEnded;
}

function storagePod({ name, node: on, app, isReady }: Pod) {
  return { name, node: on, app, isReady };
}

function withPodNodes(
  deployments: readonly KubernetesDeployment[],
  pods: Part<readonly Pod[]>,
): readonly KubernetesDeployment[] {
  if ("missing" in pods) {
    return deployments;
  }
  const nodes = new Map<string, Set<string>>();
  for (const { deployment: of, node: on, isReady, hasEnded } of pods.ok) {
    if (of !== undefined && on !== undefined && isReady && !hasEnded) {
      nodes.set(of, (nodes.get(of) ?? new Set()).add(on));
    }
  }
  return deployments.map((each) => ({ ...each, podNodes: [...(nodes.get(each.name) ?? [])].sort() }));
}
