import type { KubernetesAdapter } from "../../../adapters/kubernetes/adapter.ts";
import type { WatchedName } from "../../../adapters/kubernetes/resources.ts";
import type { Manifest, Manifests } from "../../../adapters/kubernetes/sandbox-cluster.ts";

/** An adapter to test, and changes to its cluster, which starts with the sandbox's objects in `rook-ceph`. */
export interface ContractSubject {
  readonly kubernetes: KubernetesAdapter;
  /** The initial objects. */
  readonly seeds: Manifests;
  put(kind: WatchedName, object: Manifest): Promise<void>;
  remove(kind: WatchedName, name: string): Promise<void>;
  /** Revokes the account's permission to list and watch the kind. */
  deny(kind: WatchedName): Promise<void>;
  allow(kind: WatchedName): Promise<void>;
  /** Removes the definition of one of Rook's or Koor's kinds, with its objects. */
  uninstall(kind: WatchedName): Promise<void>;
  install(kind: WatchedName): Promise<void>;
  /** Runs the work while the adapter cannot follow, and discards the cluster's history. */
  missHistory(work: () => Promise<void>): Promise<void>;
  stopCluster(): Promise<void>;
  startCluster(): Promise<void>;
}
