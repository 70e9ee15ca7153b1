import { formatEndpoint } from "./api-endpoint.ts";
import { type BootstrapToken, bootstrapTokenGroups, formatBootstrapToken } from "./bootstrap-token.ts";
import type {
  ClusterConfiguration,
  ExtraArgs,
  InitConfiguration,
  JoinConfiguration,
  KubeadmTimeouts,
  KubeletConfiguration,
  NodeRegistration,
} from "./kubeadm-documents.ts";
import {
  formatKubernetesVersion,
  type KubeadmApiVersion,
  type KubernetesVersion,
  kubeadmApiVersionOf,
} from "./kubernetes-version.ts";
import type { ClusterPlan, JoinTicket, NodePlan } from "./renderer.ts";

/** How long a machine waits for the API server: other machines of the cluster may still be installing. */
const discoveryTimeout = "20m0s";
/**
 * Longer than kubeadm's defaults: on an emulated or busy machine the API server takes more than a minute to answer, and a
 * failed init is not repeated. The gateway's own limit is `clusters.joinTimeoutMinutes`.
 */
const timeouts: KubeadmTimeouts = {
  controlPlaneComponentHealthCheck: "10m0s",
  kubeletHealthCheck: "10m0s",
  kubernetesAPICall: "5m0s",
  etcdAPICall: "5m0s",
  tlsBootstrap: "10m0s",
};
/**
 * Five years. Certificates that kubeadm signs on a machine are not renewed there by hand, and upgrades replace them sooner.
 * Before 1.31 it is one year.
 */
const certificateValidity = "43800h0m0s";

/** Returns the documents for `kubeadm init`. The kubelet's configuration is passed on to all nodes that join. */
export function initDocuments(
  cluster: ClusterPlan,
  node: NodePlan,
  token: BootstrapToken,
): readonly [InitConfiguration, ClusterConfiguration, KubeletConfiguration] {
  const apiVersion = kubeadmApiVersionOf(node.version);
  return [
    {
      apiVersion,
      kind: "InitConfiguration",
      bootstrapTokens: [
        {
          token: formatBootstrapToken(token),
          ttl: `${Math.ceil(token.ttlMs / 1000)}s`,
          usages: ["signing", "authentication"],
          groups: bootstrapTokenGroups,
        },
      ],
      nodeRegistration: nodeRegistrationOf(node, imagePullPolicyOf(cluster)),
      ...(apiVersion === "kubeadm.k8s.io/v1beta3" ? {} : { timeouts }),
    },
    clusterConfigurationOf(cluster, apiVersion, node.version),
    {
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      cgroupDriver: "systemd",
      rotateCertificates: true,
    },
  ];
}

/**
 * Returns the document for `kubeadm join`.
 * @param cluster for a control-plane machine; undefined for a worker
 */
export function joinDocument(
  cluster: ClusterPlan | undefined,
  node: NodePlan,
  ticket: JoinTicket,
): JoinConfiguration {
  const apiVersion = kubeadmApiVersionOf(node.version);
  const isOld = apiVersion === "kubeadm.k8s.io/v1beta3";
  const bootstrapToken = {
    token: formatBootstrapToken(ticket.token),
    apiServerEndpoint: formatEndpoint(ticket.endpoint),
    caCertHashes: [ticket.caPublicKeyHash],
  };
  return {
    apiVersion,
    kind: "JoinConfiguration",
    discovery: isOld ? { bootstrapToken, timeout: discoveryTimeout } : { bootstrapToken },
    nodeRegistration: nodeRegistrationOf(node, cluster && imagePullPolicyOf(cluster)),
    controlPlane: cluster && {},
    ...(isOld ? {} : { timeouts: { ...timeouts, discovery: discoveryTimeout } }),
  };
}

/** Returns whether images may be pulled: only if the cluster has its own image repository. */
export function imagePullPolicyOf({ imageRepository }: ClusterPlan): "Never" | "IfNotPresent" {
  return imageRepository === undefined ? "Never" : "IfNotPresent";
}

function clusterConfigurationOf(
  cluster: ClusterPlan,
  apiVersion: KubeadmApiVersion,
  version: KubernetesVersion,
): ClusterConfiguration {
  const { podSubnet, serviceSubnet, dnsDomain } = cluster.network;
  const isOld = apiVersion === "kubeadm.k8s.io/v1beta3";
  return {
    apiVersion,
    kind: "ClusterConfiguration",
    clusterName: cluster.name,
    kubernetesVersion: `v${formatKubernetesVersion(version)}`,
    controlPlaneEndpoint: cluster.endpoint && formatEndpoint(cluster.endpoint),
    imageRepository: cluster.imageRepository,
    apiServer: {
      certSANs: cluster.certificateNames,
      ...(isOld ? { timeoutForControlPlane: timeouts.controlPlaneComponentHealthCheck } : {}),
    },
    networking: { podSubnet, serviceSubnet, dnsDomain },
    ...(isOld ? {} : { encryptionAlgorithm: "ECDSA-P256", certificateValidityPeriod: certificateValidity }),
  };
}

function nodeRegistrationOf(
  { name, version, labels }: NodePlan,
  imagePullPolicy: "Never" | "IfNotPresent" | undefined,
): NodeRegistration {
  const nodeLabels = labels.map((label) => `${label.name}=${label.value}`).join(",");
  return {
    name,
    ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
    kubeletExtraArgs: extraArgsOf(kubeadmApiVersionOf(version), { "node-labels": nodeLabels }),
  };
}

function extraArgsOf(apiVersion: KubeadmApiVersion, args: Readonly<Record<string, string>>): ExtraArgs {
  return apiVersion === "kubeadm.k8s.io/v1beta3"
    ? args
    : Object.entries(args).map(([name, value]) => ({ name, value }));
}
