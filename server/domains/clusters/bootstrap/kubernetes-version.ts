import { invalidField } from "../../../../adapters/host/infra-error.ts";

/** A released version of Kubernetes, such as 1.36.3. */
export interface KubernetesVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** API version of kubeadm's configuration files. */
export type KubeadmApiVersion = "kubeadm.k8s.io/v1beta3" | "kubeadm.k8s.io/v1beta4";

/** The first version whose kubeadm reads v1beta3, the oldest form that can be rendered. */
const oldest: KubernetesVersion = { major: 1, minor: 22, patch: 0 };

/**
 * Parses `1.36.3` or `v1.36.3`; undefined for anything else. Pre-releases (`1.36.0-rc.1`) and builds (`1.36.3+k3s1`) are not
 * accepted, since upgrades from and to them are not guaranteed to work.
 */
export function kubernetesVersionFrom(text: string): KubernetesVersion | undefined {
  const [, major, minor, patch] = /^v?(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})$/.exec(text) ?? [];
  return patch === undefined
    ? undefined
    : { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

/**
 * Parses the version in a request.
 * @param field the request's field, for the violation
 * @throws InfraError INVALID_FIELD when it is not a version, or not a supported one
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

/** Reports whether machines can be prepared for the version. */
export function isSupportedVersion(version: KubernetesVersion): boolean {
  return version.major === oldest.major && compareKubernetesVersions(version, oldest) >= 0;
}

/** Formats the version without a leading `v`, as in the API and in image names. */
export function formatKubernetesVersion({ major, minor, patch }: KubernetesVersion): string {
  return `${major}.${minor}.${patch}`;
}

/** Returns a negative number when `a` is older than `b`, and 0 when they are the same. */
export function compareKubernetesVersions(a: KubernetesVersion, b: KubernetesVersion): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}

/**
 * Returns the newest configuration API version that kubeadm of the given version reads: v1beta4 came with 1.31.
 * @param version accepted by `isSupportedVersion`
 */
export function kubeadmApiVersionOf(version: KubernetesVersion): KubeadmApiVersion {
  return version.minor >= 31 ? "kubeadm.k8s.io/v1beta4" : "kubeadm.k8s.io/v1beta3";
}
