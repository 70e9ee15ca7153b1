/** How a cluster is reached, and as whom. All text in PEM. */
export interface WorkloadAccess {
  /** Of its API servers: an IP address or a DNS name. */
  readonly host: string;
  readonly port: number;
  readonly caCertificatePem: string;
  /** Of somebody of the group `system:masters`. */
  readonly clientCertificatePem: string;
  readonly clientKeyPem: string;
}

/** How the etcd of a cluster is reached, which kubeadm runs on each machine of the control plane, port 2379. */
export interface EtcdAccess {
  /** IP addresses of machines whose etcd may answer; they are tried in turn. */
  readonly addresses: readonly string[];
  readonly caCertificatePem: string;
  readonly clientCertificatePem: string;
  readonly clientKeyPem: string;
}

/** A node, as its cluster sees it. */
export interface WorkloadNode {
  readonly name: string;
  /** Of the condition `Ready`; undefined when the cluster itself does not know, as its kubelet has been silent. */
  readonly isReady: boolean | undefined;
  /** Why, in Kubernetes' own words, as `KubeletReady` and `container runtime network not ready`. */
  readonly readyReason: string;
  readonly readyMessage: string;
  /** Since when it is so (`lastTransitionTime`), by the cluster's clock; absent when it does not tell. */
  readonly readyChangedAtMs?: number;
  /** As `1.36.3`, without the `v`. */
  readonly kubeletVersion: string;
  readonly isCordoned: boolean;
  readonly labels: ReadonlyMap<string, string>;
  readonly addresses: readonly string[];
  readonly createdAtMs: number;
}

/** What is left to do before a node is empty. */
export interface DrainProgress {
  /** Pods that are to go and are still there, as `namespace/name`. */
  readonly remaining: readonly string[];
  /** Those of them that Kubernetes does not let go now, as a disruption budget forbids it, with what it says. */
  readonly blocked: readonly { readonly pod: string; readonly why: string }[];
}

/** A Secret with a token to join by; see `bootstrapTokenSecretFrom`. */
export interface WorkloadSecret {
  readonly apiVersion: "v1";
  readonly kind: "Secret";
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly type: string;
  readonly stringData: Readonly<Record<string, string>>;
}

/**
 * A Kubernetes cluster that the gateway has made. Any call throws InfraError WORKLOAD_UNAVAILABLE (it cannot be reached, or says that it
 * cannot now; what was asked may have been done), WORKLOAD_DENIED (it does not take the certificate, or does not allow it) and
 * WORKLOAD_FAILED (whatever else it answers). Each call has a deadline of 3 s for reads and 10 s for changes, and takes a signal whose
 * reason it throws; a name that is none is INVALID_FIELD. Nothing is cached; every change may be repeated, and is, once, when a connection
 * is lost.
 */
export interface WorkloadCluster {
  /** Of the API server that answers, as `1.36.3`. */
  version(signal?: AbortSignal): Promise<string>;
  nodes(signal?: AbortSignal): Promise<readonly WorkloadNode[]>;
  /** Makes the Secret, or replaces it. */
  writeSecret(secret: WorkloadSecret, signal?: AbortSignal): Promise<void>;
  /** Keeps new pods from a node; one that is not there is left alone. */
  cordon(node: string, signal?: AbortSignal): Promise<void>;
  /**
   * Has the pods of a node leave it by eviction (`policy/v1`), all but those of DaemonSets, static ones and those that have ended, and tells
   * how far that is. Called again until nothing remains.
   */
  drain(node: string, signal?: AbortSignal): Promise<DrainProgress>;
  /** Has the cluster forget a node; one that is not there is left alone. */
  deleteNode(node: string, signal?: AbortSignal): Promise<void>;
  /**
   * Tells the cluster which version machines that join its control plane are to run: `kubernetesVersion` of kubeadm's ConfigMap
   * `kube-system/kubeadm-config`, and the image of the DaemonSet `kube-proxy`, whose pods on older machines stay as they are (`OnDelete`).
   * Also creates the ClusterRoleBindings that kubeadm of newer versions relies on.
   */
  setVersion(version: string, signal?: AbortSignal): Promise<void>;
  /**
   * Takes the etcd of a machine out of the cluster's, by the name that it has there, which is the node's, or, when it has never started and
   * has none, by the node's addresses, as long as the node is there. One that is not there is left alone.
   * @throws InfraError WORKLOAD_FAILED when it is the last one
   */
  removeEtcdMember(node: string, etcd: EtcdAccess, signal?: AbortSignal): Promise<void>;
  /** Gives up what is under way. */
  close(): Promise<void>;
}

/** Kubernetes clusters that kubeadm has made. Both the real one and the sandbox pass test/adapters/workload/contract.ts. */
export interface WorkloadAdapter {
  readonly kind: "real" | "sandbox";
  /** Calls nobody. */
  connect(access: WorkloadAccess): WorkloadCluster;
  close(): Promise<void>;
}
