import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { CephState } from "../../../adapters/ceph/adapter.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Part } from "../../../adapters/host/part-of-state.ts";
import type { KubernetesNode, KubernetesState } from "../../../adapters/kubernetes/adapter.ts";
import { type NodeInfoSchema, ResourceStatus } from "../../../gen/resources/stats/stats_pb.ts";
import { cephHostStatuses } from "./ceph-hosts.ts";
import { type MissingPart, requirePart } from "./figure-notes.ts";

/** What GetClusterNodes answers with, and what of it could not be read. */
export interface ClusterNodes {
  readonly nodes: MessageInitShape<typeof NodeInfoSchema>[];
  readonly missing: readonly MissingPart[];
}

/**
 * The nodes that carry the cluster, by name: with Kubernetes those that its pods run on, else the hosts of Ceph's daemons.
 * @throws InfraError FIGURE_UNAVAILABLE when neither tells which they are, DOMAIN_OFF when there is neither
 */
export function clusterNodesFrom(kubernetes?: KubernetesState, ceph?: CephState): ClusterNodes {
  if (kubernetes !== undefined && (ceph === undefined || "ok" in kubernetes.storagePods)) {
    return nodesOfKubernetes(kubernetes);
  }
  if (ceph === undefined) {
    throw new InfraError(
      "DOMAIN_OFF",
      "there is nothing to tell of nodes: set `storage` in the configuration",
    );
  }
  const reason =
    kubernetes !== undefined && "missing" in kubernetes.storagePods
      ? kubernetes.storagePods.missing
      : "Ceph does not tell it, and `storage.kubernetes` is not configured";
  return nodesOfCeph(ceph, reason);
}

/**
 * Whether the nodes of clusterNodesFrom are ready, for the radar. A node of which Kubernetes tells no condition is not, nor is
 * one that it does not have any more.
 */
export function storageNodeStatuses(
  kubernetes?: KubernetesState,
  ceph?: CephState,
): Part<readonly { readonly name: string; readonly isReady: boolean }[]> {
  if (kubernetes === undefined) {
    return ceph === undefined ? { missing: "`storage` is not configured" } : cephHostStatuses(ceph);
  }
  const { nodes, storagePods } = kubernetes;
  if ("missing" in storagePods) {
    return storagePods;
  }
  if ("missing" in nodes) {
    return nodes;
  }
  const isReady = new Map(nodes.ok.map((node) => [node.name, node.isReady === true]));
  return { ok: namesOf(storagePods.ok).map((name) => ({ name, isReady: isReady.get(name) ?? false })) };
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
    // Its pods outlive a node for a while.
    return { name, status: ResourceStatus.RESOURCE_NOT_READY };
  }
  return {
    name,
    status: statusOf(node.isReady),
    roles: [...node.roles],
    internalIp: node.internalIp,
    externalIp: node.externalIp,
    age: timestampFromMs(node.createdAtMs),
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

/** Each node once, by name. */
function namesOf(pods: readonly { readonly node: string | undefined }[]): readonly string[] {
  return [...new Set(pods.flatMap(({ node }) => node ?? []))].sort();
}
