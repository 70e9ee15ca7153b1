import type { MessageInitShape } from "@bufbuild/protobuf";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { KoorClusterObject, KubernetesState } from "../../../../adapters/kubernetes/adapter.ts";
import { type KoorClusterSchema, UpgradeMode } from "../../../../gen/resources/stats/stats_pb.ts";
import { type MissingPart, requirePart } from "../figures/figure-notes.ts";
import { storageReasons } from "../reasons.ts";

/** Answer of GetKoorCluster, and the fields that its operator has not reported yet. */
export interface KoorClusterReading {
  readonly koorCluster: MessageInitShape<typeof KoorClusterSchema>;
  readonly missing: readonly MissingPart[];
}

const modes: ReadonlyMap<string, UpgradeMode> = new Map([
  ["disabled", UpgradeMode.DISABLED],
  ["notify", UpgradeMode.NOTIFY],
  ["upgrade", UpgradeMode.UPGRADE],
]);

/**
 * Returns the KoorCluster of the namespace; if there are several, the first by name.
 * @throws InfraError KOOR_CLUSTER_NOT_FOUND, FIGURE_UNAVAILABLE if it cannot be read
 */
export function koorClusterFrom(kubernetes: KubernetesState): KoorClusterReading {
  const [cluster] = requirePart("koor_cluster", kubernetes.koorClusters);
  if (cluster === undefined) {
    throw new InfraError(storageReasons.KOOR_CLUSTER_NOT_FOUND, "koor cluster not found");
  }
  const { name, namespace } = cluster;
  const status = statusMessage(cluster.status);
  return {
    koorCluster: { name, namespace, spec: specMessage(cluster), ...(status && { status }) },
    missing: missingOf(cluster.status),
  };
}

function specMessage(cluster: KoorClusterObject) {
  const { upgradeOptions, ksdReleaseName, ksdClusterReleaseName } = cluster;
  const { useAllDevices, monitoringEnabled, dashboardEnabled, toolboxEnabled } = cluster;
  const { mode, endpoint, schedule } = upgradeOptions;
  return {
    useAllDevices,
    monitoringEnabled,
    dashboardEnabled,
    toolboxEnabled,
    upgradeOptions: { mode: modes.get(mode) ?? UpgradeMode.UNSPECIFIED, endpoint, schedule },
    ksdReleaseName,
    ksdClusterReleaseName,
  };
}

function statusMessage(status: KoorClusterObject["status"]) {
  if (status === undefined) {
    return undefined;
  }
  const { totalResources, meetsMinimumResources, currentVersions, latestVersions } = status;
  return {
    meetsMinimumResources,
    ...(totalResources && { totalResources }),
    ...(currentVersions && { currentVersions }),
    ...(latestVersions && { latestVersions: withoutUndefined(latestVersions) }),
  };
}

/** Returns the fields that are not reported yet. The latest versions are optional; an operator reports the rest at once. */
function missingOf(status: KoorClusterObject["status"]): readonly MissingPart[] {
  const unreported = {
    "koor_cluster.status": status === undefined,
    "koor_cluster.status.total_resources": status !== undefined && status.totalResources === undefined,
    "koor_cluster.status.current_versions": status !== undefined && status.currentVersions === undefined,
  };
  return Object.entries(unreported)
    .filter(([, isMissing]) => isMissing)
    .map(([field]) => ({ field, reason: "the operator of the KoorCluster has not reported it" }));
}

function withoutUndefined({ koorOperator, ksd, ceph }: NonNullable<LatestVersions>) {
  return { ...(koorOperator && { koorOperator }), ...(ksd && { ksd }), ...(ceph && { ceph }) };
}

type LatestVersions = NonNullable<KoorClusterObject["status"]>["latestVersions"];
