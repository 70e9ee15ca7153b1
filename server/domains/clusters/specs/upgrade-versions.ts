import type { Reason } from "../../../../adapters/host/define-reasons.ts";
import { type InstanceType, parseInstanceType } from "../bootstrap/instance-type.ts";
import {
  compareKubernetesVersions,
  formatKubernetesVersion,
  isSupportedVersion,
  type KubernetesVersion,
  parseKubernetesVersion,
} from "../bootstrap/kubernetes-version.ts";
import { joinRefusal, skewRefusal, upgradeRefusal } from "../bootstrap/version-skew.ts";
import { clusterReasons } from "../reasons.ts";
import type { ClusterRecord } from "../store/records.ts";
import type { OfferedImages } from "./cluster-images.ts";

/** Versions of a cluster's machines, present or planned. */
export interface ClusterVersions {
  /** Version of the pools. */
  readonly workers: KubernetesVersion;
  readonly controlPlane: KubernetesVersion;
}

/** Instance types of a cluster's machines. */
export interface ClusterTypes {
  readonly workers: readonly InstanceType[];
  readonly controlPlane: InstanceType;
}

/** The reason why an upgrade is rejected. */
export interface UpgradeRefusal {
  readonly reason: Reason;
  /** A sentence without a full stop. */
  readonly why: string;
}

/**
 * Returns the version for a control plane whose workers have a given version: the same, or if there is no image of it, the
 * oldest newer version that such workers can join.
 * @param isPossible whether the control plane can be moved to a version
 */
export function controlPlaneVersionFor(
  workers: KubernetesVersion,
  type: InstanceType,
  images: OfferedImages,
  isPossible: (version: KubernetesVersion) => boolean = () => true,
): KubernetesVersion | undefined {
  return images
    .versionsOf(type)
    .find(
      (version) =>
        isSupportedVersion(version) && joinRefusal(workers, version) === undefined && isPossible(version),
    );
}

/** Returns the versions of a cluster's machines after an upgrade of its workers to a version. */
export function upgradeTo(
  version: KubernetesVersion,
  current: ClusterVersions,
  types: ClusterTypes,
  images: OfferedImages,
): ClusterVersions | UpgradeRefusal {
  const why = upgradeRefusal(current.workers, version);
  if (why !== undefined) {
    return { reason: clusterReasons.UPGRADE_REFUSED, why };
  }
  const text = formatKubernetesVersion(version);
  const missing = types.workers.find((type) => images.seriesOf(type, version) === undefined);
  if (missing !== undefined) {
    return {
      reason: clusterReasons.NO_IMAGE,
      why: `MAAS has no Kubernetes ${text} image for ${missing} machines`,
    };
  }
  const controlPlane = controlPlaneVersionFor(
    version,
    types.controlPlane,
    images,
    (candidate) =>
      compareKubernetesVersions(candidate, current.controlPlane) === 0 ||
      // The control plane is upgraded first, while the workers still have their old version.
      (upgradeRefusal(current.controlPlane, candidate) === undefined &&
        skewRefusal(current.workers, candidate) === undefined),
  );
  if (controlPlane === undefined) {
    const have = formatKubernetesVersion(current.controlPlane);
    return {
      reason: clusterReasons.NO_IMAGE,
      why: `MAAS has no image for ${types.controlPlane} machines that a control plane of ${have} can be upgraded to and that workers of ${text} can join`,
    };
  }
  return { workers: version, controlPlane };
}

/** Returns the versions that `upgradeTo` accepts, oldest first. */
export function upgradesOf(
  current: ClusterVersions,
  types: ClusterTypes,
  images: OfferedImages,
): readonly string[] {
  const offered = [types.controlPlane, ...types.workers].flatMap((type) => images.versionsOf(type));
  const possible = offered
    .filter((version) => "workers" in upgradeTo(version, current, types, images))
    .toSorted(compareKubernetesVersions)
    .map(formatKubernetesVersion);
  return [...new Set(possible)];
}

/** @throws InfraError INVALID_FIELD for values that no gateway writes */
export function versionsOf({ k8sVersion, controlPlaneVersion }: ClusterRecord): ClusterVersions {
  return {
    workers: parseKubernetesVersion(k8sVersion, "k8s_version"),
    controlPlane: parseKubernetesVersion(controlPlaneVersion, "control_plane_version"),
  };
}

/** @throws InfraError INVALID_FIELD for values that no gateway writes */
export function typesOf({
  controlPlane,
  pools,
}: Pick<ClusterRecord, "controlPlane" | "pools">): ClusterTypes {
  return {
    controlPlane: parseInstanceType(controlPlane.instanceType, "instance_type"),
    workers: [...new Set(pools.map(({ instanceType }) => parseInstanceType(instanceType, "instance_type")))],
  };
}
