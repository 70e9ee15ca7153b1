import type { CephAdapter } from "../adapters/ceph/adapter.ts";
import { createCeph } from "../adapters/ceph/ceph.ts";
import { createCephSandbox } from "../adapters/ceph/sandbox.ts";
import type { StorageConfig } from "./config/schema.ts";

/** What stands behind the domain of storage clusters. */
export interface StorageSystem {
  /** Undefined where none is configured. */
  readonly ceph: CephAdapter | undefined;
  close(): Promise<void>;
}

/** A cluster that touches nothing of the host. */
export function createSandboxStorage(): StorageSystem {
  const ceph = createCephSandbox();
  return { ceph, close: () => ceph.close() };
}

/** The cluster that the configuration names. */
export function createRealStorage({ ceph: config }: StorageConfig): StorageSystem {
  const ceph =
    config &&
    createCeph({
      confPath: config.conf,
      reader: { user: config.user, keyringPath: config.keyring },
      operator: config.operator && { user: config.operator.user, keyringPath: config.operator.keyring },
    });
  return { ceph, close: async () => ceph?.close() };
}
