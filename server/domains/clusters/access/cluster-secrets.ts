import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Seal } from "../../../crypto/seal.ts";
import { storeReasons } from "../../../store/reasons.ts";
import type { BootstrapToken } from "../bootstrap/bootstrap-token.ts";
import { type ClusterPki, formatClusterPki, parseClusterPki } from "../bootstrap/cluster-pki.ts";

/** Secrets known only to the gateway and the cluster's machines. */
export interface ClusterSecrets {
  readonly pki: ClusterPki;
  /** Token with which further machines can join once the first one has initialized the cluster. */
  readonly firstToken: BootstrapToken;
}

/**
 * Seals the secrets for the store.
 * @param seal `createSeal(masterKeys, "cluster")`
 */
export function sealClusterSecrets(seal: Seal, clusterUid: string, secrets: ClusterSecrets): Uint8Array {
  const { pki, firstToken } = secrets;
  const text = JSON.stringify({ pki: formatClusterPki(pki), firstToken });
  return seal.seal(Buffer.from(text), clusterUid);
}

/** Opens sealed secrets. @throws InfraError MASTER_KEY_MISMATCH when they were sealed for another cluster or with another key */
export function openClusterSecrets(seal: Seal, clusterUid: string, sealed: Uint8Array): ClusterSecrets {
  try {
    const { pki, firstToken } = JSON.parse(Buffer.from(seal.open(sealed, clusterUid)).toString());
    return {
      pki: parseClusterPki(pki),
      firstToken: { ...firstToken, expiresAt: new Date(firstToken.expiresAt) },
    };
  } catch {
    // The caught error may quote the secrets, so it is not attached as the cause.
    const message = "cannot decrypt the cluster's secrets with the gateway's master key";
    throw new InfraError(storeReasons.MASTER_KEY_MISMATCH, message);
  }
}
