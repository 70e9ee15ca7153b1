import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Part } from "../../../../adapters/host/part-of-state.ts";
import type {
  KubernetesDeployment,
  KubernetesState,
  RookObject,
} from "../../../../adapters/kubernetes/adapter.ts";
import type { ResourceInfoSchema } from "../../../../gen/resources/stats/stats_pb.ts";
import {
  createFigureNotes,
  type FigureNotes,
  figureMissing,
  type MissingPart,
} from "../figures/figure-notes.ts";
import { createReliabilityScores, type ReliabilityScores } from "../radar/reliability-scores.ts";
import { statusOfDeployment, statusOfRook } from "./resource-status.ts";

/** Answer of GetClusterResources, the fields that could not be read, and the counts that exceed int32. */
export interface ClusterResources {
  readonly resources: MessageInitShape<typeof ResourceInfoSchema>[];
  readonly deployments: MessageInitShape<typeof ResourceInfoSchema>[];
  readonly missing: readonly MissingPart[];
  readonly clamped: readonly string[];
}

/**
 * Returns Rook's objects in the order of the contract, and the Deployments of the namespace, each by name. Ceph itself
 * provides neither. Status and reliability are defined in docs/reference/domains/stats.md.
 * @throws InfraError FIGURE_UNAVAILABLE if none of them can be read
 */
export function clusterResourcesFrom(kubernetes: KubernetesState): ClusterResources {
  const { cephClusters, blockPools, filesystems, objectStores, deployments } = kubernetes;
  const kinds: readonly (readonly [string, Part<readonly RookObject[]>])[] = [
    ["CephCluster", cephClusters],
    ["CephBlockPool", blockPools],
    ["CephFilesystem", filesystems],
    ["CephObjectStore", objectStores],
  ];
  const notes = createFigureNotes();
  const scores = createReliabilityScores(kubernetes);
  const resources = kinds.flatMap(([kind, part]) =>
    (notes.valueOf(`resources.${kind}`, part) ?? []).map((object) => resourceMessage(object, scores, notes)),
  );
  const ofDeployments = (notes.valueOf("deployments", deployments) ?? []).map((deployment) =>
    deploymentMessage(deployment, scores, notes),
  );
  if (notes.missing.length > kinds.length) {
    throw figureMissing(notes.missing);
  }
  const missing = [...notes.missing, ...replicasMissing(kinds)];
  return { resources, deployments: ofDeployments, missing, clamped: notes.clamped };
}

/** Notes the objects without a replica count. The field is a plain number, so it shows 0 for them. */
function replicasMissing(kinds: readonly (readonly [string, Part<readonly RookObject[]>])[]): MissingPart[] {
  const silent = kinds.flatMap(([kind, part]) =>
    "missing" in part
      ? []
      : part.ok
          .filter(({ desiredReplicas }) => desiredReplicas === undefined)
          .map(({ name }) => `${kind} ${name}`),
  );
  const reason = `${silent.join(" and ")} ${silent.length === 1 ? "does" : "do"} not state a replica count`;
  return silent.length === 0 ? [] : [{ field: "resources.replicas", reason }];
}

function resourceMessage(
  object: RookObject,
  scores: ReliabilityScores,
  notes: FigureNotes,
): ClusterResources["resources"][number] {
  const { apiVersion, kind, namespace, name, desiredReplicas } = object;
  return {
    apiversion: apiVersion,
    kind,
    namespace,
    name,
    status: statusOfRook(object),
    ...(desiredReplicas !== undefined && { replicas: notes.int32("resources.replicas", desiredReplicas) }),
    reliability: scores.ofRook(object),
  };
}

function deploymentMessage(
  deployment: KubernetesDeployment,
  scores: ReliabilityScores,
  notes: FigureNotes,
): ClusterResources["deployments"][number] {
  const { namespace, name, desiredReplicas } = deployment;
  return {
    apiversion: "apps/v1",
    kind: "Deployment",
    namespace,
    name,
    status: statusOfDeployment(deployment),
    replicas: notes.int32("deployments.replicas", desiredReplicas),
    reliability: scores.ofDeployment(deployment),
  };
}
