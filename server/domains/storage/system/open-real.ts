import type { CephAdapter } from "../../../../adapters/ceph/adapter.ts";
import type { KubernetesAdapter } from "../../../../adapters/kubernetes/adapter.ts";
import type { StorageConfig } from "../config.ts";
import { type StorageSystem, storageSystem } from "./system.ts";

/** Connects to the configured clusters. */
export async function openRealStorage(config: StorageConfig): Promise<StorageSystem> {
  const kubernetes = config.kubernetes && (await createRealKubernetes(config.kubernetes));
  return storageSystem(config.ceph && (await createRealCeph(config.ceph)), kubernetes);
}

async function createRealCeph(config: NonNullable<StorageConfig["ceph"]>): Promise<CephAdapter> {
  const { createCeph } = await import("../../../../adapters/ceph/ceph.ts");
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
  // Loading its library takes half a second and 120 MB, so it is loaded only if such a cluster is configured.
  const { createKubernetes } = await import("../../../../adapters/kubernetes/kubernetes.ts");
  const { kubeconfig, context, namespace } = config;
  return createKubernetes({ kubeconfigPath: kubeconfig, context, namespace });
}
