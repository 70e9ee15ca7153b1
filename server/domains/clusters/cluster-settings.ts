import type { MaasConstraints } from "../../../adapters/maas/machine.ts";
import type { ClusterNetwork, CniSource } from "./bootstrap/renderer.ts";

/** What the configuration says of all clusters. */
export interface ClusterSettings {
  /** IP addresses for the API servers of clusters, one each, of which MAAS has none to give; empty: each is at its first machine. */
  readonly endpoints: readonly string[];
  /** The host that the kubeconfig of the cluster with that name has; absent: the address of its API servers. */
  readonly kubeconfigHost?: (name: string) => string;
  /** Of the static pod that holds a cluster's address; undefined only without addresses. */
  readonly kubeVipImage: string | undefined;
  readonly cni: CniSource;
  readonly network: ClusterNetwork;
  /** Undefined: all images of containers are in the image of the machine. */
  readonly imageRepository: string | undefined;
  /** What all machines must be like, besides the tag of their type. */
  readonly machines: Pick<
    MaasConstraints,
    "pool" | "zone" | "notInPools" | "notInZones" | "architecture" | "cpuCount" | "memoryMib"
  >;
  /** How long a machine may take to be installed. */
  readonly deployTimeoutMs: number;
  /** How long a machine that is installed may take to be a node that is ready. */
  readonly joinTimeoutMs: number;
  /** How long pods may take to leave a node before it goes without waiting for them. */
  readonly drainTimeoutMs: number;
  /** How often a machine that is on its way is looked at. */
  readonly pollMs: number;
  /** How often a cluster in which nothing is going on is looked at. */
  readonly watchMs: number;
  /** How often machines that no cluster knows are looked for. */
  readonly sweepMs: number;
  /** How long after the start that is done for the first time. */
  readonly firstSweepMs: number;
  /** For how long a gateway has a cluster to itself. */
  readonly leaseMs: number;
}

/** The port of every cluster's API servers. */
export const apiServerPort = 6443;
