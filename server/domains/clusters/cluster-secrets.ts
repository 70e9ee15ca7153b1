import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Seal } from "../../crypto/seal.ts";
import type { BootstrapToken } from "./bootstrap/bootstrap-token.ts";
import { type ClusterPki, formatClusterPki, parseClusterPki } from "./bootstrap/cluster-pki.ts";

/** What only the gateway and the machines of a cluster may know. */
export interface ClusterSecrets {
  readonly pki: ClusterPki;
  /** By which further machines can join as soon as the first has made the cluster. */
  readonly firstToken: BootstrapToken;
}

/**
 * The secrets as the store keeps them.
 * @param seal `createSeal(masterKey, "cluster")`
 */
export function sealClusterSecrets(seal: Seal, clusterUid: string, secrets: ClusterSecrets): Uint8Array {
  const { pki, firstToken } = secrets;
  const text = JSON.stringify({ pki: formatClusterPki(pki), firstToken });
  return seal.seal(Buffer.from(text), clusterUid);
}

/** @throws InfraError MASTER_KEY_MISMATCH when they were sealed for another cluster or with another key */
export function openClusterSecrets(seal: Seal, clusterUid: string, sealed: Uint8Array): ClusterSecrets {
  try {
    const { pki, firstToken } = JSON.parse(Buffer.from(seal.open(sealed, clusterUid)).toString());
    return {
      pki: parseClusterPki(pki),
      firstToken: { ...firstToken, expiresAt: new Date(firstToken.expiresAt) },
    };
  } catch {
    // What was caught may quote what was opened.
    const message = "the secrets of the cluster do not open with the gateway's master key";
    throw new InfraError("MASTER_KEY_MISMATCH", message);
  }
}
