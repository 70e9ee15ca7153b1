import {
  compareKubernetesVersions,
  formatKubernetesVersion,
  type KubernetesVersion,
  kubeadmApiVersionOf,
} from "./kubernetes-version.ts";

/**
 * Returns why a control plane cannot be upgraded from one version to another, as a sentence; undefined when it can. Only newer
 * versions are possible, within the same minor version or the next one (kubernetes.io/releases/version-skew-policy).
 */
export function upgradeRefusal(from: KubernetesVersion, to: KubernetesVersion): string | undefined {
  const [current, target] = [formatKubernetesVersion(from), formatKubernetesVersion(to)];
  const order = compareKubernetesVersions(to, from);
  if (order === 0) {
    return `the cluster already has version ${current}`;
  }
  if (order < 0) {
    return `${target} is older than ${current}, and Kubernetes cannot be downgraded`;
  }
  if (to.major !== from.major || to.minor > from.minor + 1) {
    return `upgrading from ${current} to ${target} would skip a minor version; upgrade to ${from.major}.${from.minor + 1} first`;
  }
  return undefined;
}

/**
 * Returns why a node of one version cannot be part of a cluster whose oldest API server has another, as a sentence; undefined
 * when it can. A kubelet is never newer than the API server, and at most three minor versions older, two before 1.25
 * (kubernetes.io/releases/version-skew-policy).
 */
export function skewRefusal(node: KubernetesVersion, apiServer: KubernetesVersion): string | undefined {
  const [own, server] = [formatKubernetesVersion(node), formatKubernetesVersion(apiServer)];
  if (compareKubernetesVersions(node, apiServer) > 0) {
    return `node version ${own} is newer than the control plane's ${server}`;
  }
  const maxMinors = node.minor < 25 ? 2 : 3;
  if (node.major !== apiServer.major || apiServer.minor - node.minor > maxMinors) {
    return `node version ${own} is more than ${maxMinors} minor versions older than the control plane's ${server}`;
  }
  return undefined;
}

/**
 * Returns why a machine of one version cannot join a cluster whose oldest API server has another, as a sentence; undefined
 * when it can. Besides `skewRefusal`: a machine joins with kubeadm of its own version, which before 1.31 cannot read the
 * configuration that a newer one stored in the cluster.
 */
export function joinRefusal(node: KubernetesVersion, apiServer: KubernetesVersion): string | undefined {
  const refusal = skewRefusal(node, apiServer);
  if (refusal !== undefined || kubeadmApiVersionOf(node) === kubeadmApiVersionOf(apiServer)) {
    return refusal;
  }
  const [own, server] = [formatKubernetesVersion(node), formatKubernetesVersion(apiServer)];
  return `kubeadm ${own} cannot read the configuration of a control plane with version ${server}`;
}
