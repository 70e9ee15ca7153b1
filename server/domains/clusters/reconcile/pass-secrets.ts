import type { WorkloadCluster } from "../../../../adapters/workload/adapter.ts";
import { type ClusterSecrets, openClusterSecrets, sealClusterSecrets } from "../access/cluster-secrets.ts";
import { createBootstrapToken } from "../bootstrap/bootstrap-token.ts";
import { isAdminRenewalDue, renewAdminCertificate } from "../bootstrap/cluster-pki.ts";
import type { ClusterRecord } from "../store/records.ts";
import type { ReconcileTools } from "./reconcile-tools.ts";

/** The secrets of a cluster in a pass, opened when first needed: deleting a cluster needs none. */
export interface PassSecrets {
  /** @throws InfraError MASTER_KEY_MISMATCH */
  open(): ClusterSecrets;
  /** Renews the administrator's certificate when it expires soon. @throws InfraError as the store does, and as `open` */
  renewAdmin(): Promise<void>;
  renewFirstToken(ttlMs: number): Promise<ClusterSecrets>;
  /** @throws InfraError as `open` */
  connect(host: string): WorkloadCluster;
}

/** @param sealed as the store had it at the version of `cluster` */
export function createPassSecrets(
  tools: ReconcileTools,
  cluster: Pick<ClusterRecord, "name" | "uid" | "secretsVersion">,
  sealed: Uint8Array,
): PassSecrets {
  const { store, seal, connections } = tools;
  const { name, uid } = cluster;
  let { secretsVersion } = cluster;
  let opened: ClusterSecrets | undefined;

  function open(): ClusterSecrets {
    opened ??= openClusterSecrets(seal, uid, sealed);
    return opened;
  }

  /** If the secrets were renewed concurrently, this pass keeps using the old ones, and the next pass reads the new ones. */
  async function replace(secrets: ClusterSecrets): Promise<ClusterSecrets> {
    const secretsSealed = sealClusterSecrets(seal, uid, secrets);
    const { ok } = await store.run("clusters.setSecrets", { name, uid, secretsVersion, secretsSealed });
    if (ok) {
      secretsVersion += 1;
      opened = secrets;
    }
    return open();
  }

  return {
    open,
    async renewAdmin() {
      const secrets = open();
      const nowMs = Date.now();
      if (isAdminRenewalDue(secrets.pki, nowMs)) {
        await replace({ ...secrets, pki: await renewAdminCertificate(secrets.pki, nowMs) });
      }
    },
    renewFirstToken(ttlMs) {
      return replace({ ...open(), firstToken: createBootstrapToken(Date.now(), ttlMs) });
    },
    connect: (host) => connections.to({ uid, secretsVersion }, host, open().pki),
  };
}
