/** Address and credentials of a cluster. All text is PEM. */
export interface WorkloadAccess {
  /** Address of its API servers: an IP address or a DNS name. */
  readonly host: string;
  readonly port: number;
  readonly caCertificatePem: string;
  /** Certificate of a member of the group `system:masters`. */
  readonly clientCertificatePem: string;
  readonly clientKeyPem: string;
}

/** Addresses and credentials of a cluster's etcd, which kubeadm runs on each control plane machine, port 2379. */
export interface EtcdAccess {
  /** IP addresses of machines with etcd members; they are tried in turn. */
  readonly addresses: readonly string[];
  readonly caCertificatePem: string;
  readonly clientCertificatePem: string;
  readonly clientKeyPem: string;
}

/** A node, as reported by its cluster. */
export interface WorkloadNode {
  readonly name: string;
  /** Status of the condition `Ready`; undefined when the cluster does not know, because the kubelet is silent. */
  readonly isReady: boolean | undefined;
  /** Reason and message of the condition, e.g. `KubeletReady` and `container runtime network not ready`. */
  readonly readyReason: string;
  readonly readyMessage: string;
  /** When it last changed (`lastTransitionTime`), by the cluster's clock; absent if not reported. */
  readonly readyChangedAtMs?: number;
  /** E.g. `1.36.3`, without the `v`. */
  readonly kubeletVersion: string;
  readonly isCordoned: boolean;
  readonly labels: ReadonlyMap<string, string>;
  readonly addresses: readonly string[];
  readonly createdAtMs: number;
}

/** Work left until a node is drained. */
export interface DrainProgress {
  /** Pods still to be evicted, as `namespace/name`. */
  readonly remaining: readonly string[];
  /** Pods that Kubernetes refuses to evict now because of a disruption budget, with its message. */
  readonly blocked: readonly { readonly pod: string; readonly why: string }[];
}

/** A Secret with a bootstrap token; see `bootstrapTokenSecretFrom`. */
export interface WorkloadSecret {
  readonly apiVersion: "v1";
  readonly kind: "Secret";
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly type: string;
  readonly stringData: Readonly<Record<string, string>>;
}

/**
 * A Kubernetes cluster that the gateway created. Any call throws InfraError WORKLOAD_UNAVAILABLE (it cannot be reached,
 * or reports that it is temporarily unavailable; the request may have been carried out), WORKLOAD_DENIED (it rejects
 * the certificate, or forbids the request) and WORKLOAD_FAILED (any other reply). Each call has a deadline of 3 s for
 * reads and 10 s for changes, and takes a signal whose reason it throws; an invalid name is INVALID_FIELD. Nothing is
 * cached. Every change may be repeated, and is retried once when a connection is lost.
 */
export interface WorkloadCluster {
  /** Version of the API server that answers, e.g. `1.36.3`. */
  version(signal?: AbortSignal): Promise<string>;
  nodes(signal?: AbortSignal): Promise<readonly WorkloadNode[]>;
  /** Creates or replaces the Secret. */
  writeSecret(secret: WorkloadSecret, signal?: AbortSignal): Promise<void>;
  /** Marks a node as unschedulable; does nothing if it does not exist. */
  cordon(node: string, signal?: AbortSignal): Promise<void>;
  /**
   * Evicts the pods of a node (`policy/v1`), except those of DaemonSets, static ones and those that have ended, and
   * returns the progress. Call it again until nothing remains.
   */
  drain(node: string, signal?: AbortSignal): Promise<DrainProgress>;
  /** Deletes a node from the cluster; does nothing if it does not exist. */
  deleteNode(node: string, signal?: AbortSignal): Promise<void>;
  /**
   * Sets the version for machines that join the control plane: `kubernetesVersion` in kubeadm's ConfigMap
   * `kube-system/kubeadm-config`, and the image of the DaemonSet `kube-proxy`, whose pods on older machines stay as
   * they are (`OnDelete`). Also creates the ClusterRoleBindings that kubeadm of newer versions relies on.
   */
  setVersion(version: string, signal?: AbortSignal): Promise<void>;
  /**
   * Removes a machine's member from the cluster's etcd. The member is identified by its name, which is the node's, or,
   * if it has never started and has no name, by the node's addresses, as long as the node exists. Does nothing if there
   * is no such member.
   * @throws InfraError WORKLOAD_FAILED when it is the last one
   */
  removeEtcdMember(node: string, etcd: EtcdAccess, signal?: AbortSignal): Promise<void>;
  /** Cancels pending calls. */
  close(): Promise<void>;
}

/**
 * Kubernetes clusters created by kubeadm. Both the real adapter and the sandbox pass
 * test/adapters/workload/contract.ts.
 */
export interface WorkloadAdapter {
  readonly kind: "real" | "sandbox";
  /** Creates the client of a cluster, without connecting. */
  connect(access: WorkloadAccess): WorkloadCluster;
  close(): Promise<void>;
}
