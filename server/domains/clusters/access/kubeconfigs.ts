import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Seal } from "../../../crypto/seal.ts";
import type { Store } from "../../../store/store.ts";
import { apiHostOf } from "../addresses/api-host.ts";
import {
  adminExpiresAt,
  type ClusterPki,
  isAdminRenewalDue,
  renewAdminCertificate,
} from "../bootstrap/cluster-pki.ts";
import { renderKubeconfig } from "../bootstrap/kubeconfig.ts";
import { clusterReasons } from "../reasons.ts";
import { clusterResource } from "../specs/cluster-resource.ts";
import { apiServerPort } from "../specs/cluster-settings.ts";
import {
  assertNotStopping,
  assertOfMaas,
  clusterNotFound,
  findCluster,
  withOtherMaasMessage,
} from "../state/find-cluster.ts";
import type { ClusterRecord } from "../store/records.ts";
import type { ClusterWithSlots } from "../store/rows.ts";
import { openClusterSecrets, sealClusterSecrets } from "./cluster-secrets.ts";

/** Access data for a cluster's administrator. */
export interface Kubeconfig {
  /** A secret. Empty until the cluster's address is known. */
  readonly text: string;
  /** When its certificate expires. */
  readonly expiresAt: Date;
}

/** The kubeconfigs of clusters. */
export interface Kubeconfigs {
  /**
   * Returns the current kubeconfig. Its certificate is renewed 30 days before it expires.
   * @throws InfraError CLUSTER_NOT_FOUND, MASTER_KEY_MISMATCH
   */
  read(name: string): Promise<Kubeconfig & { readonly cluster: ClusterRecord }>;
  /**
   * Returns a kubeconfig with a new certificate. The previous one stays valid until it expires.
   * @throws InfraError CLUSTER_NOT_FOUND, CLUSTER_STOPPING, CLUSTER_OF_OTHER_MAAS, CLUSTER_CHANGED, MASTER_KEY_MISMATCH
   */
  rotate(name: string): Promise<Kubeconfig>;
  /** Runs the checks of `rotate` without changing anything. */
  planRotate(name: string): Promise<ClusterRecord>;
}

export interface KubeconfigsOptions {
  readonly store: Pick<Store, "run">;
  readonly seal: Seal;
  readonly maasUrl: string;
  /** Returns the host of the cluster with that name. If undefined, the address of its API servers is used. */
  readonly hostOf?: ((name: string) => string) | undefined;
}

const maxTries = 5;

/** @param options `maasUrl`: clusters of another MAAS keep their kubeconfigs, but get no new certificates */
export function createKubeconfigs({ store, seal, maasUrl, hostOf }: KubeconfigsOptions): Kubeconfigs {
  /**
   * Reads a cluster's keys, after renewing the administrator's certificate if needed.
   * @param isDue decides whether to renew it
   */
  async function currentPki(
    { name, uid }: Pick<ClusterRecord, "name" | "uid">,
    isDue: (pki: ClusterPki) => boolean,
  ): Promise<ClusterPki> {
    for (let tries = 0; tries < maxTries; tries += 1) {
      const found = await store.run("clusters.secrets", { name });
      // Another cluster may have taken over the name.
      if (found?.uid !== uid) {
        throw clusterNotFound(name);
      }
      const { secretsVersion, secretsSealed } = found;
      const secrets = openClusterSecrets(seal, uid, secretsSealed);
      if (!isDue(secrets.pki)) {
        return secrets.pki;
      }
      const pki = await renewAdminCertificate(secrets.pki, Date.now());
      const sealed = sealClusterSecrets(seal, uid, { ...secrets, pki });
      const { ok } = await store.run("clusters.setSecrets", {
        name,
        uid,
        secretsVersion,
        secretsSealed: sealed,
      });
      if (ok) {
        return pki;
      }
    }
    throw new InfraError(
      clusterReasons.CLUSTER_CHANGED,
      `the secrets of ${name} are being changed concurrently; try again`,
      { resource: clusterResource(name) },
    );
  }

  async function findOfMaas(name: string): Promise<ClusterWithSlots> {
    const found = await findCluster(store, name);
    assertOfMaas(found.cluster, maasUrl);
    assertNotStopping(found.cluster);
    return found;
  }

  function kubeconfigOf({ cluster, slots }: ClusterWithSlots, pki: ClusterPki): Kubeconfig {
    const address = apiHostOf(cluster, slots);
    const expiresAt = adminExpiresAt(pki);
    if (address === undefined) {
      return { text: "", expiresAt };
    }
    const endpoint = { host: hostOf?.(cluster.name) ?? address, port: apiServerPort };
    const text = renderKubeconfig(cluster.name, endpoint, pki.kubernetesCa.certificatePem, pki.admin);
    return { text, expiresAt };
  }

  return {
    async read(name) {
      const found = await findCluster(store, name);
      const pki = await currentPki(found.cluster, (each) => isAdminRenewalDue(each, Date.now()));
      return { ...kubeconfigOf(found, pki), cluster: withOtherMaasMessage(found.cluster, maasUrl) };
    },
    async rotate(name) {
      const found = await findOfMaas(name);
      return kubeconfigOf(found, await currentPki(found.cluster, () => true));
    },
    async planRotate(name) {
      return (await findOfMaas(name)).cluster;
    },
  };
}
