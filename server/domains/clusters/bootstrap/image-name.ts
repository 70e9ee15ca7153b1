import { type InstanceType, instanceTypeFrom } from "./instance-type.ts";
import { type KubernetesVersion, kubernetesVersionFrom } from "./kubernetes-version.ts";

/** A MAAS image that contains Kubernetes, for machines of one type. */
export interface ClusterImage {
  /** Operating system, e.g. `ubuntu-jammy`. */
  readonly os: string;
  readonly version: KubernetesVersion;
  readonly instanceType: InstanceType;
}

const osPattern = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/;

/**
 * Parses the name of a boot resource, `os=ubuntu-jammy,k8s=1.36.3,standard`. The type may also be `type=standard`, and the
 * parts may be in any order. MAAS may prefix uploaded images with `custom/`. Returns undefined for all other images.
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

function keyAndValue(part: string): [string, string] {
  const equals = part.indexOf("=");
  return equals === -1 ? ["type", part] : [part.slice(0, equals), part.slice(equals + 1)];
}
