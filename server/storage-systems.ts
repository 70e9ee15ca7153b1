import type { CephAdapter } from "../adapters/ceph/adapter.ts";
import type { KubernetesAdapter } from "../adapters/kubernetes/adapter.ts";
import type { StorageConfig } from "./config/schema.ts";

/** What stands behind the domain of storage clusters; each is undefined where none is configured, but not both. */
export interface StorageSystem {
  readonly ceph: CephAdapter | undefined;
  /** The cluster that carries it. */
  readonly kubernetes: KubernetesAdapter | undefined;
  close(): Promise<void>;
}

/** The clusters that the configuration names. */
export async function createRealStorage(config: StorageConfig): Promise<StorageSystem> {
  const kubernetes = config.kubernetes && (await createRealKubernetes(config.kubernetes));
  return storageSystem(config.ceph && (await createRealCeph(config.ceph)), kubernetes);
}

async function createRealCeph(config: NonNullable<StorageConfig["ceph"]>): Promise<CephAdapter> {
  const { createCeph } = await import("../adapters/ceph/ceph.ts");
  const { conf, user, keyring, operator } = config;
  return createCeph({
    confPath: conf,
    reader: { user, keyringPath: keyring },
    operator: operator && { user: operator.user, keyringPath: operator.keyring },
  });
}

async function createRealKubernetes(
  config: NonNullable<StorageConfig["kubernetes"]>,
): Promise<KubernetesAdapter> {
  // Its library takes half a second and 120 MB, which nobody pays who has no such cluster.
  const { createKubernetes } = await import("../adapters/kubernetes/kubernetes.ts");
  const { kubeconfig, context, namespace } = config;
  return createKubernetes({ kubeconfigPath: kubeconfig, context, namespace });
}

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
