import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { CephState } from "../../../../adapters/ceph/adapter.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Part } from "../../../../adapters/host/part-of-state.ts";
import type { KubernetesNode, KubernetesState } from "../../../../adapters/kubernetes/adapter.ts";
import { type NodeInfoSchema, ResourceStatus } from "../../../../gen/resources/stats/stats_pb.ts";
import { domainReasons } from "../../../domain/reasons.ts";
import { cephHostStatuses } from "../ceph/ceph-hosts.ts";
import { type MissingPart, requirePart } from "../figures/figure-notes.ts";

/** Answer of GetClusterNodes, and the fields that could not be read. */
export interface ClusterNodes {
  readonly nodes: MessageInitShape<typeof NodeInfoSchema>[];
  readonly missing: readonly MissingPart[];
}

/** Readiness of the nodes that run the cluster. */
export interface StorageNodeStatuses {
  readonly nodes: readonly { readonly name: string; readonly isReady: boolean }[];
  /** Why Ceph is the source instead of Kubernetes; undefined if Kubernetes is the source or is not configured. */
  readonly standInBecause: string | undefined;
}

/**
 * Returns the nodes that run the cluster, by name. With Kubernetes these are the nodes of the cluster's pods; without it, or if
 * it cannot provide them, the hosts of Ceph's daemons.
 * @param kubernetes `missing` if it cannot be read
 * @throws InfraError FIGURE_UNAVAILABLE if neither source provides the nodes, DOMAIN_OFF if neither is configured
 */
export function clusterNodesFrom(kubernetes?: Part<KubernetesState>, ceph?: CephState): ClusterNodes {
  const why = kubernetes && whyUnavailable(kubernetes);
  if (kubernetes !== undefined && (ceph === undefined || why === undefined)) {
    const found = nodesOfKubernetes(requirePart("nodes", kubernetes));
    return why === undefined ? found : { ...found, missing: [{ field: "nodes", reason: why }] };
  }
  if (ceph === undefined) {
    throw new InfraError(
      domainReasons.DOMAIN_OFF,
      "no source of nodes is configured: set `storage` in the configuration",
    );
  }
  return nodesOfCeph(ceph, why ?? "Ceph does not report it, and `storage.kubernetes` is not configured");
}

/**
 * Returns the readiness of the nodes of `clusterNodesFrom`, for the radar. A node without a condition in Kubernetes counts as
 * not ready, and so does a node that Kubernetes no longer has.
 */
export function storageNodeStatuses(
  kubernetes?: Part<KubernetesState>,
  ceph?: CephState,
): Part<StorageNodeStatuses> {
  const fromKubernetes = kubernetes === undefined ? undefined : nodeStatusesOf(kubernetes);
  if (fromKubernetes !== undefined && "ok" in fromKubernetes) {
    return { ok: { nodes: fromKubernetes.ok, standInBecause: undefined } };
  }
  if (ceph === undefined) {
    return fromKubernetes ?? { missing: "`storage` is not configured" };
  }
  const hosts = cephHostStatuses(ceph);
  return "missing" in hosts ? hosts : { ok: { nodes: hosts.ok, standInBecause: fromKubernetes?.missing } };
}

function nodeStatusesOf(kubernetes: Part<KubernetesState>): Part<StorageNodeStatuses["nodes"]> {
  const why = whyUnavailable(kubernetes);
  if ("missing" in kubernetes || why !== undefined) {
    return { missing: why ?? "" };
  }
  const { nodes, storagePods } = kubernetes.ok;
  if ("missing" in nodes) {
    return nodes;
  }
  const isReady = new Map(nodes.ok.map((node) => [node.name, node.isReady === true]));
  const names = "ok" in storagePods ? namesOf(storagePods.ok) : [];
  return { ok: names.map((name) => ({ name, isReady: isReady.get(name) ?? false })) };
}

/** Returns why Kubernetes cannot provide the nodes that run the cluster; undefined if it can. */
export function whyUnavailable(kubernetes: Part<KubernetesState>): string | undefined {
  if ("missing" in kubernetes) {
    return kubernetes.missing;
  }
  const { storagePods } = kubernetes.ok;
  if ("missing" in storagePods) {
    return storagePods.missing;
  }
  // This is the case if Rook's cluster is external, or if the namespace is not Rook's.
  return namesOf(storagePods.ok).length === 0
    ? "no pod of a CephCluster runs in the namespace of `storage.kubernetes`"
    : undefined;
}

function nodesOfKubernetes({ nodes, storagePods }: KubernetesState): ClusterNodes {
  const names = namesOf(requirePart("nodes", storagePods));
  if ("missing" in nodes) {
    return {
      nodes: names.map((name) => ({ name, status: ResourceStatus.RESOURCE_UNKNOWN })),
      missing: ["status", "roles", "internal_ip", "external_ip", "age"].map((field) => ({
        field: `nodes.${field}`,
        reason: nodes.missing,
      })),
    };
  }
  const known = new Map(nodes.ok.map((node) => [node.name, node]));
  return { nodes: names.map((name) => messageOf(name, known.get(name))), missing: [] };
}

function messageOf(name: string, node: KubernetesNode | undefined): ClusterNodes["nodes"][number] {
  if (node === undefined) {
    // Pods outlive their node for a while.
    return { name, status: ResourceStatus.RESOURCE_NOT_READY };
  }
  return {
    name,
    status: statusOf(node.isReady),
    roles: [...node.roles],
    internalIp: node.internalIp,
    externalIp: node.externalIp,
    ...(node.createdAtMs !== undefined && { age: timestampFromMs(node.createdAtMs) }),
  };
}

function nodesOfCeph(ceph: CephState, reason: string): ClusterNodes {
  const hosts = requirePart("nodes", cephHostStatuses(ceph));
  return {
    nodes: hosts.map(({ name, isReady }) => ({ name, status: statusOf(isReady) })),
    missing: ["roles", "internal_ip", "external_ip", "age"].map((field) => ({
      field: `nodes.${field}`,
      reason,
    })),
  };
}

function statusOf(isReady: boolean | undefined): ResourceStatus {
  if (isReady === undefined) {
    return ResourceStatus.RESOURCE_UNKNOWN;
  }
  return isReady ? ResourceStatus.RESOURCE_READY : ResourceStatus.RESOURCE_NOT_READY;
}

/** Returns each node once, sorted by name. */
function namesOf(pods: readonly { readonly node: string | undefined }[]): readonly string[] {
  return [...new Set(pods.flatMap(({ node }) => node ?? []))].sort();
}
