import type { ApiEndpoint } from "./api-endpoint.ts";
import type { BootstrapToken } from "./bootstrap-token.ts";
import type { ClusterPki } from "./cluster-pki.ts";
import type { KubernetesVersion } from "./kubernetes-version.ts";
import type { NodeLabel } from "./node-labels.ts";

/** What is the same for all machines of a cluster. */
export interface ClusterPlan {
  readonly name: string;
  /**
   * Where its API servers are reached, known before any of them runs. Without it that is the first machine's own address, and
   * the control plane can have no second one.
   */
  readonly endpoint: ApiEndpoint | undefined;
  /** The image of kube-vip, which holds the endpoint's IP address on one of the control plane's machines; undefined when others see to it. */
  readonly kubeVipImage: string | undefined;
  /** What the API servers are called besides: names and addresses that their certificates hold. */
  readonly certificateNames: readonly string[];
  readonly network: ClusterNetwork;
  readonly cni: CniSource;
  /** Where images of containers come from; undefined when all are in the machine's image, and nothing is ever fetched. */
  readonly imageRepository: string | undefined;
}

/** The cluster's own addresses, in CIDR notation, and its DNS domain. They must not overlap with the machines'. */
export interface ClusterNetwork {
  readonly podSubnet: string;
  readonly serviceSubnet: string;
  readonly dnsDomain: string;
}

/** The manifest of the plugin that connects pods: its text, or the path of a file in the machine's image. */
export type CniSource = { readonly manifest: string } | { readonly path: string };

/** What one machine is to be. */
export interface NodePlan {
  /** Its name in Kubernetes: the machine's hostname, in small letters. */
  readonly name: string;
  /** Of its image, and thus of its kubelet and kubeadm. */
  readonly version: KubernetesVersion;
  /** All that it is to have; see `nodeLabelsOf`. */
  readonly labels: readonly NodeLabel[];
}

/** What a machine joins a cluster by. */
export interface JoinTicket {
  readonly endpoint: ApiEndpoint;
  readonly token: BootstrapToken;
  /** See `caPublicKeyHashOf`. */
  readonly caPublicKeyHash: string;
}

/**
 * Writes what a machine is told when it is installed: `user_data` for MAAS, the same each time for the same input. Names, labels
 * and addresses must have passed their checks (`names.ts`, `node-labels.ts`), though whatever they hold, it changes nothing but
 * their own value. The text of a control plane's machine holds the cluster's keys: it is a secret.
 */
export interface NodeRenderer {
  /** The first machine of the control plane, which makes the cluster. Its token is the first that others can join by. */
  renderFirstControlPlane(
    cluster: ClusterPlan,
    node: NodePlan,
    pki: ClusterPki,
    token: BootstrapToken,
  ): string;
  /** A further machine of the control plane. */
  renderControlPlane(cluster: ClusterPlan, node: NodePlan, pki: ClusterPki, ticket: JoinTicket): string;
  /** A machine that works. It gets no key of the cluster. */
  renderWorker(cluster: Pick<ClusterPlan, "imageRepository">, node: NodePlan, ticket: JoinTicket): string;
}
