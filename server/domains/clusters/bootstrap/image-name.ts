import { type InstanceType, instanceTypeFrom } from "./instance-type.ts";
import {
  formatKubernetesVersion,
  type KubernetesVersion,
  kubernetesVersionFrom,
} from "./kubernetes-version.ts";

/** An image of MAAS with Kubernetes in it, for machines of one type. */
export interface ClusterImage {
  /** Its system, e.g. `ubuntu-jammy`. */
  readonly os: string;
  readonly version: KubernetesVersion;
  readonly instanceType: InstanceType;
}

const osPattern = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/;

/**
 * Reads the name of a boot resource, `os=ubuntu-jammy,k8s=1.36.3,standard`, in which the type may also be `type=standard` and
 * the parts stand in any order. MAAS may put `custom/` in front of what was uploaded. Undefined for every other image.
 */
export function clusterImageFrom(name: string): ClusterImage | undefined {
  const parts = name.replace(/^custom\//, "").split(",", 4);
  const values = new Map(parts.map(keyAndValue));
  const { os, k8s, type } = Object.fromEntries(values);
  if (parts.length !== 3 || os === undefined || k8s === undefined || type === undefined) {
    return undefined;
  }
  const version = k8s.startsWith("v") ? undefined : kubernetesVersionFrom(k8s);
  const instanceType = instanceTypeFrom(type);
  if (!osPattern.test(os) || version === undefined || instanceType === undefined) {
    return undefined;
  }
  return { os, version, instanceType };
}

/** The name that an image of this kind is uploaded under. */
export function formatClusterImage({ os, version, instanceType }: ClusterImage): string {
  return `os=${os},k8s=${formatKubernetesVersion(version)},${instanceType}`;
}

function keyAndValue(part: string): [string, string] {
  const equals = part.indexOf("=");
  return equals === -1 ? ["type", part] : [part.slice(0, equals), part.slice(equals + 1)];
}
