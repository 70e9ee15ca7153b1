import type { CephAdapter } from "../../../../adapters/ceph/adapter.ts";
import type { KubernetesAdapter } from "../../../../adapters/kubernetes/adapter.ts";

/** The systems behind the storage domain; each is undefined where it is not configured, but never both. */
export interface StorageSystem {
  readonly ceph: CephAdapter | undefined;
  /** The Kubernetes cluster that runs Ceph. */
  readonly kubernetes: KubernetesAdapter | undefined;
  close(): Promise<void>;
}

/** Puts the systems together. `close` closes those that are configured. */
export function storageSystem(
  ceph: CephAdapter | undefined,
  kubernetes: KubernetesAdapter | undefined,
): StorageSystem {
  return {
    ceph,
    kubernetes,
    close: async () => void (await Promise.all([ceph?.close(), kubernetes?.close()])),
  };
}
