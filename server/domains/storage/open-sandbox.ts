import { createCephSandbox } from "../../../adapters/ceph/sandbox.ts";
import { createKubernetesSandbox } from "../../../adapters/kubernetes/sandbox.ts";
import { type StorageSystem, storageSystem } from "./system.ts";

/** Creates a Ceph cluster and the Kubernetes cluster that runs it in memory. */
export function openSandboxStorage(): StorageSystem {
  return storageSystem(createCephSandbox(), createKubernetesSandbox());
}
