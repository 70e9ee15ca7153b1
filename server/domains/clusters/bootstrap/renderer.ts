import type { ApiEndpoint } from "./api-endpoint.ts";
import type { BootstrapToken } from "./bootstrap-token.ts";
import type { ClusterPki } from "./cluster-pki.ts";
import type { KubernetesVersion } from "./kubernetes-version.ts";
import type { NodeLabel } from "./node-labels.ts";

/** Settings shared by all machines of a cluster. */
export interface ClusterPlan {
  readonly name: string;
  /**
   * Address of the API servers, known before any of them runs. Without it the address is that of the first machine, and the
   * control plane cannot have a second machine.
   */
  readonly endpoint: ApiEndpoint | undefined;
  /**
   * Image of kube-vip, which assigns the endpoint's IP address to one control-plane machine; undefined when the address is
   * managed elsewhere.
   */
  readonly kubeVipImage: string | undefined;
  /** Additional names and addresses in the API servers' certificates. */
  readonly certificateNames: readonly string[];
  readonly network: ClusterNetwork;
  readonly cni: CniSource;
  /** Registry of the container images; undefined when the machine's image contains all of them, and nothing is ever pulled. */
  readonly imageRepository: string | undefined;
}

/** The cluster's internal subnets, in CIDR notation, and its DNS domain. The subnets must not overlap with the machines'. */
export interface ClusterNetwork {
  readonly podSubnet: string;
  readonly serviceSubnet: string;
  readonly dnsDomain: string;
}

/** Manifest of the CNI plugin: its text, or the path of a file in the machine's image. */
export type CniSource = { readonly manifest: string } | { readonly path: string };

/** Role-independent settings of one machine. */
export interface NodePlan {
  /** Node name in Kubernetes: the machine's hostname in lowercase. */
  readonly name: string;
  /** Version in its image, and thus of its kubelet and kubeadm. */
  readonly version: KubernetesVersion;
  /** All labels of the node; see `nodeLabelsOf`. */
  readonly labels: readonly NodeLabel[];
}

/** Data that a machine needs to join a cluster. */
export interface JoinTicket {
  readonly endpoint: ApiEndpoint;
  readonly token: BootstrapToken;
  /** See `caPublicKeyHashOf`. */
  readonly caPublicKeyHash: string;
}

/**
 * Renders the `user_data` for MAAS with which a machine is installed, always the same for the same input. Names, labels and
 * addresses must have been validated (`names.ts`, `node-labels.ts`); even an invalid value could not affect the text around
 * it. The text for a control-plane machine contains the cluster's keys, so it is a secret.
 */
export interface NodeRenderer {
  /**
   * Renders the first control-plane machine, which initializes the cluster. Its token is the first that other machines can join
   * with.
   */
  renderFirstControlPlane(
    cluster: ClusterPlan,
    node: NodePlan,
    pki: ClusterPki,
    token: BootstrapToken,
  ): string;
  /** Renders a further control-plane machine. */
  renderControlPlane(cluster: ClusterPlan, node: NodePlan, pki: ClusterPki, ticket: JoinTicket): string;
  /** Renders a worker. It never receives the cluster's keys. */
  renderWorker(cluster: Pick<ClusterPlan, "imageRepository">, node: NodePlan, ticket: JoinTicket): string;
}
