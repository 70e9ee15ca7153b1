import type { KubeadmApiVersion } from "./kubernetes-version.ts";

// What is used here of kubeadm's and the kubelet's configuration (kubernetes.io/docs/reference/config-api), in both forms.

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
    /** Not `expires`: kubeadm fills `ttl` in where it is missing, and then refuses both (1.36.3). */
    readonly ttl: string;
    readonly usages: readonly ("signing" | "authentication")[];
    readonly groups: readonly string[];
  }[];
  readonly nodeRegistration: NodeRegistration;
}

export interface ClusterConfiguration {
  readonly apiVersion: KubeadmApiVersion;
  readonly kind: "ClusterConfiguration";
  readonly clusterName: string;
  readonly kubernetesVersion: string;
  readonly controlPlaneEndpoint: string | undefined;
  readonly imageRepository: string | undefined;
  readonly apiServer: { readonly certSANs: readonly string[] };
  readonly networking: {
    readonly podSubnet: string;
    readonly serviceSubnet: string;
    readonly dnsDomain: string;
  };
  /** Both are read since v1beta4. */
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
    /** In v1beta3 alone. */
    readonly timeout?: string;
  };
  readonly nodeRegistration: NodeRegistration;
  /** Empty: a member of the control plane. Absent: a worker. */
  readonly controlPlane: Readonly<Record<string, never>> | undefined;
  /** Since v1beta4. */
  readonly timeouts?: { readonly discovery: string };
}
