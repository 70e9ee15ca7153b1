import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import { isSettledWithin } from "../../../../adapters/host/is-settled-within.ts";
import { type InstanceType, instanceTypes } from "../bootstrap/instance-type.ts";
import {
  formatKubernetesVersion,
  type KubernetesVersion,
  parseKubernetesVersion,
} from "../bootstrap/kubernetes-version.ts";
import { clusterReasons } from "../reasons.ts";
import type { ClusterRecord } from "../store/records.ts";
import type { ClusterImages, OfferedImages } from "./cluster-images.ts";
import type { ClusterSpec, NodePoolSpec } from "./cluster-requests.ts";
import { clusterResource } from "./cluster-resource.ts";
import { controlPlaneVersionFor } from "./upgrade-versions.ts";

/** How long a caller waits for information from MAAS that is optional. */
const patienceMs = 2_000;

/**
 * Returns the images in MAAS; undefined if MAAS does not respond in time. Missing images are then reported by the cluster's
 * status.
 */
export async function imagesIfReadable(images: ClusterImages): Promise<OfferedImages | undefined> {
  const reading = images.read();
  const isRead = await isSettledWithin(reading, patienceMs);
  return isRead ? reading.catch(() => undefined) : undefined;
}

/**
 * Chooses the version for the control plane of a new cluster.
 * @param offered undefined when the available images are unknown
 * @throws InfraError INVALID_FIELD when there are no images for the machines of the cluster
 */
export function createdControlPlaneVersion(
  { version, controlPlane, pools }: ClusterSpec,
  offered: OfferedImages | undefined,
): KubernetesVersion {
  if (offered === undefined) {
    return version;
  }
  const missing = pools.find(({ instanceType }) => offered.seriesOf(instanceType, version) === undefined);
  if (missing !== undefined) {
    throw invalidField("k8s_version", noImage(version, missing.instanceType, offered));
  }
  const found = controlPlaneVersionFor(version, controlPlane.instanceType, offered);
  // Without pools no machine has this version yet, but it must be available for some type of machine.
  const isKnown = instanceTypes.some((type) => offered.seriesOf(type, version) !== undefined);
  if (found === undefined || !isKnown) {
    throw invalidField("k8s_version", noImage(version, controlPlane.instanceType, offered));
  }
  return found;
}

/**
 * Rejects pools for whose machines there is no image.
 * @throws InfraError NO_IMAGE
 */
export function assertImages(
  { name, k8sVersion }: Pick<ClusterRecord, "name" | "k8sVersion">,
  pools: readonly Pick<NodePoolSpec, "instanceType">[],
  offered: OfferedImages,
): void {
  const version = parseKubernetesVersion(k8sVersion, "k8s_version");
  const missing = pools.find(({ instanceType }) => offered.seriesOf(instanceType, version) === undefined);
  if (missing !== undefined) {
    throw new InfraError(clusterReasons.NO_IMAGE, noImage(version, missing.instanceType, offered), {
      resource: clusterResource(name),
    });
  }
}

function noImage(version: KubernetesVersion, type: InstanceType, offered: OfferedImages): string {
  const there = offered.versionsOf(type).map(formatKubernetesVersion).join(", ") || "none";
  return `MAAS has no Kubernetes ${formatKubernetesVersion(version)} image for ${type} machines (available versions: ${there})`;
}
