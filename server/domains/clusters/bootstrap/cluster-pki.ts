import { createHash, X509Certificate } from "node:crypto";
import { z } from "zod";
import {
  type CertifiedKey,
  createAuthority,
  createClientCertificate,
  createKeyPair,
  type KeyPair,
} from "./certificate.ts";

/** All keys of a cluster, as text in PEM. Whoever has it owns the cluster: it is stored sealed alone. */
export interface ClusterPki {
  /** Signs API servers and who uses them. */
  readonly kubernetesCa: CertifiedKey;
  readonly etcdCa: CertifiedKey;
  /** Signs the front proxy, by which API servers hand on to each other who asks. */
  readonly frontProxyCa: CertifiedKey;
  /** Signs the tokens of service accounts. */
  readonly serviceAccount: KeyPair;
  /** What the kubeconfig of the cluster's owner holds. */
  readonly admin: CertifiedKey;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const authorityDays = 3652;
const adminDays = 365;
const renewalDays = 30;
/** A machine that has just been installed may have a clock that is late. */
const backdateMs = hourMs;

const certifiedKey = z.strictObject({ certificatePem: z.string(), privateKeyPem: z.string() });
const clusterPki = z.strictObject({
  kubernetesCa: certifiedKey,
  etcdCa: certifiedKey,
  frontProxyCa: certifiedKey,
  serviceAccount: z.strictObject({ privateKeyPem: z.string(), publicKeyPem: z.string() }),
  admin: certifiedKey,
});

/**
 * New keys for a new cluster, all for ECDSA on P-256. Authorities are good for ten years and have the names that kubeadm gives
 * them; the administrator's certificate is good for one.
 */
export async function createClusterPki(nowMs: number): Promise<ClusterPki> {
  const validity = validityOf(nowMs, authorityDays);
  const [kubernetesCa, etcdCa, frontProxyCa, serviceAccount] = await Promise.all([
    createAuthority("kubernetes", validity),
    createAuthority("etcd-ca", validity),
    createAuthority("front-proxy-ca", validity),
    createKeyPair(),
  ]);
  const admin = await createAdminCertificate(kubernetesCa, nowMs);
  return { kubernetesCa, etcdCa, frontProxyCa, serviceAccount, admin };
}

/** The same keys with a new one for the administrator, good for a year. The old one stays good until it expires. */
export async function renewAdminCertificate(pki: ClusterPki, nowMs: number): Promise<ClusterPki> {
  return { ...pki, admin: await createAdminCertificate(pki.kubernetesCa, nowMs) };
}

/** Whether the administrator's certificate expires in less than 30 days. */
export function isAdminRenewalDue(pki: ClusterPki, nowMs: number): boolean {
  return adminExpiresAt(pki).getTime() - nowMs < renewalDays * dayMs;
}

/** When the administrator's certificate expires. */
export function adminExpiresAt({ admin }: ClusterPki): Date {
  return new Date(new X509Certificate(admin.certificatePem).validTo);
}

/**
 * What a machine that joins knows the cluster by, `sha256:` and 64 hexadecimal digits: the hash of the public key of
 * `kubernetesCa` (RFC 7469, section 2.4), as `kubeadm token create --print-join-command` prints it.
 */
export function caPublicKeyHashOf({ kubernetesCa }: ClusterPki): string {
  const { publicKey } = new X509Certificate(kubernetesCa.certificatePem);
  const info = publicKey.export({ type: "spki", format: "der" });
  return `sha256:${createHash("sha256").update(info).digest("hex")}`;
}

/** The keys as text to be sealed. */
export function formatClusterPki(pki: ClusterPki): string {
  return JSON.stringify(pki);
}

/**
 * Reads what `formatClusterPki` wrote.
 * @throws Error when it is something else, without any of it in the message
 */
export function parseClusterPki(text: string): ClusterPki {
  try {
    return clusterPki.parse(JSON.parse(text));
  } catch {
    throw new Error("what is stored as a cluster's keys is none");
  }
}

// Kubernetes gives this group all rights before any rule is looked at, so that it opens a cluster that has none yet.
function createAdminCertificate(kubernetesCa: CertifiedKey, nowMs: number): Promise<CertifiedKey> {
  const subject = { commonName: "kubernetes-admin", organization: "system:masters" };
  return createClientCertificate(kubernetesCa, subject, validityOf(nowMs, adminDays));
}

function validityOf(nowMs: number, days: number) {
  return { notBefore: new Date(nowMs - backdateMs), notAfter: new Date(nowMs + days * dayMs) };
}
