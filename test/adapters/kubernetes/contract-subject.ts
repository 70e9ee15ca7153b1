import type { KubernetesAdapter } from "../../../adapters/kubernetes/adapter.ts";
import type { WatchedName } from "../../../adapters/kubernetes/resources.ts";
import type { Manifest, Manifests } from "../../../adapters/kubernetes/sandbox-cluster.ts";

/** An adapter to hold to the contract, and what is done to its cluster, which begins with the sandbox's objects in `rook-ceph`. */
export interface ContractSubject {
  readonly kubernetes: KubernetesAdapter;
  /** What is there at first. */
  readonly seeds: Manifests;
  put(kind: WatchedName, object: Manifest): Promise<void>;
  remove(kind: WatchedName, name: string): Promise<void>;
  /** The account may not list and watch the kind any more. */
  deny(kind: WatchedName): Promise<void>;
  allow(kind: WatchedName): Promise<void>;
  /** Removes the definition of a kind of Rook's or Koor's, with its objects. */
  uninstall(kind: WatchedName): Promise<void>;
  install(kind: WatchedName): Promise<void>;
  /** Does the work while the adapter cannot follow, and has the cluster forget what happened. */
  missHistory(work: () => Promise<void>): Promise<void>;
  stopCluster(): Promise<void>;
  startCluster(): Promise<void>;
}
