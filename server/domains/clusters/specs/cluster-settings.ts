import type { MaasConstraints } from "../../../../adapters/maas/machine.ts";
import type { ClusterNetwork, CniSource } from "../bootstrap/renderer.ts";

/** Configuration that applies to all clusters. */
export interface ClusterSettings {
  /**
   * IP addresses for the clusters' API servers, one per cluster, outside the ranges that MAAS assigns. If empty, each cluster
   * is reached through its first machine.
   */
  readonly endpoints: readonly string[];
  /** Returns the host for the kubeconfig of the cluster with that name. If absent, the address of its API servers is used. */
  readonly kubeconfigHost?: (name: string) => string;
  /** Image of the static pod that announces a cluster's address; undefined only without addresses. */
  readonly kubeVipImage: string | undefined;
  readonly cni: CniSource;
  readonly network: ClusterNetwork;
  /** Undefined when the machine's image contains all container images. */
  readonly imageRepository: string | undefined;
  /** Constraints for all machines, besides the tag of their type. */
  readonly machines: Pick<
    MaasConstraints,
    "pool" | "zone" | "notInPools" | "notInZones" | "architecture" | "cpuCount" | "memoryMib"
  >;
  /** Maximum time for the installation of a machine. */
  readonly deployTimeoutMs: number;
  /** Maximum time for an installed machine to become a ready node. */
  readonly joinTimeoutMs: number;
  /** Maximum time for pods to leave a node; after that it is removed without waiting for them. */
  readonly drainTimeoutMs: number;
  /** Interval between checks of a machine whose state is changing. */
  readonly pollMs: number;
  /** Interval between checks of a cluster that is stable. */
  readonly watchMs: number;
  /** Interval between searches for stray machines. */
  readonly sweepMs: number;
  /** Delay of the first such search after the start. */
  readonly firstSweepMs: number;
  /** Duration of a gateway's lease on a cluster. */
  readonly leaseMs: number;
}

/** Port of every cluster's API servers. */
export const apiServerPort = 6443;
