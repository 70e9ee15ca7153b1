import type { KubeadmApiVersion } from "./kubernetes-version.ts";

// The used parts of the kubeadm and kubelet configuration (kubernetes.io/docs/reference/config-api), in both API versions.

/** Arguments of a program: a list since v1beta4, a map before. */
export type ExtraArgs =
  | readonly { readonly name: string; readonly value: string }[]
  | Readonly<Record<string, string>>;

export interface NodeRegistration {
  readonly name: string;
  readonly imagePullPolicy?: "Never" | "IfNotPresent";
  readonly kubeletExtraArgs: ExtraArgs;
}

export interface InitConfiguration {
  readonly apiVersion: KubeadmApiVersion;
  readonly kind: "InitConfiguration";
  readonly bootstrapTokens: readonly {
    readonly token: string;
    /** Not `expires`: kubeadm adds the default `ttl` and then rejects having both (1.36.3). */
    readonly ttl: string;
    readonly usages: readonly ("signing" | "authentication")[];
    readonly groups: readonly string[];
  }[];
  readonly nodeRegistration: NodeRegistration;
  /** Since v1beta4. */
  readonly timeouts?: KubeadmTimeouts;
}

export interface ClusterConfiguration {
  readonly apiVersion: KubeadmApiVersion;
  readonly kind: "ClusterConfiguration";
  readonly clusterName: string;
  readonly kubernetesVersion: string;
  readonly controlPlaneEndpoint: string | undefined;
  readonly imageRepository: string | undefined;
  readonly apiServer: {
    readonly certSANs: readonly string[];
    /** Only in v1beta3. */
    readonly timeoutForControlPlane?: string;
  };
  readonly networking: {
    readonly podSubnet: string;
    readonly serviceSubnet: string;
    readonly dnsDomain: string;
  };
  /** Both exist since v1beta4. */
  readonly encryptionAlgorithm?: "ECDSA-P256";
  readonly certificateValidityPeriod?: string;
}

export interface KubeletConfiguration {
  readonly apiVersion: "kubelet.config.k8s.io/v1beta1";
  readonly kind: "KubeletConfiguration";
  readonly cgroupDriver: "systemd";
  readonly rotateCertificates: true;
}

export interface JoinConfiguration {
  readonly apiVersion: KubeadmApiVersion;
  readonly kind: "JoinConfiguration";
  readonly discovery: {
    readonly bootstrapToken: {
      readonly token: string;
      readonly apiServerEndpoint: string;
      readonly caCertHashes: readonly string[];
    };
    /** Only in v1beta3. */
    readonly timeout?: string;
  };
  readonly nodeRegistration: NodeRegistration;
  /** Empty for a control-plane machine, absent for a worker. */
  readonly controlPlane: Readonly<Record<string, never>> | undefined;
  /** Since v1beta4. */
  readonly timeouts?: KubeadmTimeouts & { readonly discovery: string };
}

/**
 * How long kubeadm waits, as Go durations. Defaults (v1beta4): 4 min for the first two, 1 min, 2 min, 5 min.
 * Source: kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4, Timeouts.
 */
export interface KubeadmTimeouts {
  readonly controlPlaneComponentHealthCheck: string;
  readonly kubeletHealthCheck: string;
  readonly kubernetesAPICall: string;
  readonly etcdAPICall: string;
  readonly tlsBootstrap: string;
}
