import type { CephAdapter } from "../adapters/ceph/adapter.ts";
import { createCeph } from "../adapters/ceph/ceph.ts";
import { createCephSandbox } from "../adapters/ceph/sandbox.ts";
import type { KubernetesAdapter } from "../adapters/kubernetes/adapter.ts";
import { createKubernetesSandbox } from "../adapters/kubernetes/sandbox.ts";
import type { StorageConfig } from "./config/schema.ts";

/** What stands behind the domain of storage clusters; each is undefined where none is configured, but not both. */
export interface StorageSystem {
  readonly ceph: CephAdapter | undefined;
  /** The cluster that carries it. */
  readonly kubernetes: KubernetesAdapter | undefined;
  close(): Promise<void>;
}

/** Clusters that touch nothing of the host. */
export function createSandboxStorage(): StorageSystem {
  return storageSystem(createCephSandbox(), createKubernetesSandbox());
}

/** The clusters that the configuration names. */
export async function createRealStorage(config: StorageConfig): Promise<StorageSystem> {
  const kubernetes = config.kubernetes && (await createRealKubernetes(config.kubernetes));
  return storageSystem(config.ceph && createRealCeph(config.ceph), kubernetes);
}

function createRealCeph({ conf, user, keyring, operator }: NonNullable<StorageConfig["ceph"]>): CephAdapter {
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

function storageSystem(
  ceph: CephAdapter | undefined,
  kubernetes: KubernetesAdapter | undefined,
): StorageSystem {
  return {
    ceph,
    kubernetes,
    close: async () => void (await Promise.all([ceph?.close(), kubernetes?.close()])),
  };
}
