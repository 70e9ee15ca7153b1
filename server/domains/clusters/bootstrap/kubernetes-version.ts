import { invalidField } from "../../../../adapters/host/infra-error.ts";

/** A released version of Kubernetes, such as 1.36.3. */
export interface KubernetesVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** The form of kubeadm's configuration files. */
export type KubeadmApiVersion = "kubeadm.k8s.io/v1beta3" | "kubeadm.k8s.io/v1beta4";

/** The first whose kubeadm reads v1beta3, before which nothing here can be rendered for. */
const oldest: KubernetesVersion = { major: 1, minor: 22, patch: 0 };

/**
 * Reads `1.36.3` or `v1.36.3`; undefined when it is neither. Pre-releases (`1.36.0-rc.1`) and builds (`1.36.3+k3s1`) are none:
 * nobody promises what can be upgraded from and to them.
 */
export function kubernetesVersionFrom(text: string): KubernetesVersion | undefined {
  const [, major, minor, patch] = /^v?(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})$/.exec(text) ?? [];
  return patch === undefined
    ? undefined
    : { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

/**
 * Reads the version of a request.
 * @param field the request's field, for the violation
 * @throws InfraError INVALID_FIELD when it is no version, or none that a machine can be prepared for
 */
export function parseKubernetesVersion(text: string, field: string): KubernetesVersion {
  const version = kubernetesVersionFrom(text);
  if (version === undefined) {
    throw invalidField(field, "expected a version such as 1.36.3");
  }
  if (!isSupportedVersion(version)) {
    throw invalidField(field, `expected ${formatKubernetesVersion(oldest)} or newer, of major version 1`);
  }
  return version;
}

/** Whether machines can be prepared for the version. */
export function isSupportedVersion(version: KubernetesVersion): boolean {
  return version.major === oldest.major && compareKubernetesVersions(version, oldest) >= 0;
}

/** The version without a `v` in front, as the contract and names of images have it. */
export function formatKubernetesVersion({ major, minor, patch }: KubernetesVersion): string {
  return `${major}.${minor}.${patch}`;
}

/** Negative when `a` is older than `b`, 0 when they are the same. */
export function compareKubernetesVersions(a: KubernetesVersion, b: KubernetesVersion): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}

/**
 * The newest form of configuration that the kubeadm of a version reads: v1beta4 came with 1.31.
 * @param version one that `isSupportedVersion` takes
 */
export function kubeadmApiVersionOf(version: KubernetesVersion): KubeadmApiVersion {
  return version.minor >= 31 ? "kubeadm.k8s.io/v1beta4" : "kubeadm.k8s.io/v1beta3";
}
