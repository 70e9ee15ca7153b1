import { createHash, X509Certificate } from "node:crypto";
import { z } from "zod";
import { createKeyPair, type KeyPair } from "../../../crypto/x509.ts";
import { type CertifiedKey, createAuthority, createClientCertificate } from "./certificate.ts";

/** All keys of a cluster, as PEM. They give full control of the cluster, so they are only stored sealed. */
export interface ClusterPki {
  /** Signs the certificates of API servers and their clients. */
  readonly kubernetesCa: CertifiedKey;
  readonly etcdCa: CertifiedKey;
  /** Signs the front proxy's certificate, with which API servers forward the caller's identity to each other. */
  readonly frontProxyCa: CertifiedKey;
  /** Signs service account tokens. */
  readonly serviceAccount: KeyPair;
  /** The administrator's certificate, for the cluster's kubeconfig. */
  readonly admin: CertifiedKey;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const authorityDays = 3652;
const adminDays = 365;
const renewalDays = 30;
/** The clock of a newly installed machine may be slow. */
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
 * Creates the keys of a new cluster, all ECDSA on P-256. CAs are valid for ten years and have the names that kubeadm uses;
 * the administrator's certificate is valid for one year.
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

/** Replaces the administrator's certificate with a new one, valid for a year. The old one stays valid until it expires. */
export async function renewAdminCertificate(pki: ClusterPki, nowMs: number): Promise<ClusterPki> {
  return { ...pki, admin: await createAdminCertificate(pki.kubernetesCa, nowMs) };
}

/** Reports whether the administrator's certificate expires in less than 30 days. */
export function isAdminRenewalDue(pki: ClusterPki, nowMs: number): boolean {
  return adminExpiresAt(pki).getTime() - nowMs < renewalDays * dayMs;
}

/** Returns when the administrator's certificate expires. */
export function adminExpiresAt({ admin }: ClusterPki): Date {
  return new Date(new X509Certificate(admin.certificatePem).validTo);
}

/**
 * Returns the hash by which joining machines verify the cluster, `sha256:` and 64 hexadecimal digits: that of the public key
 * of `kubernetesCa` (RFC 7469, section 2.4), as `kubeadm token create --print-join-command` prints it.
 */
export function caPublicKeyHashOf({ kubernetesCa }: ClusterPki): string {
  const { publicKey } = new X509Certificate(kubernetesCa.certificatePem);
  const info = publicKey.export({ type: "spki", format: "der" });
  return `sha256:${createHash("sha256").update(info).digest("hex")}`;
}

/** Serializes the keys, to be sealed. */
export function formatClusterPki(pki: ClusterPki): string {
  return JSON.stringify(pki);
}

/**
 * Parses the output of `formatClusterPki`.
 * @throws Error when the text is anything else; the message contains none of it
 */
export function parseClusterPki(text: string): ClusterPki {
  try {
    return clusterPki.parse(JSON.parse(text));
  } catch {
    throw new Error("the stored cluster keys are invalid");
  }
}

// Kubernetes grants this group all rights before it evaluates any RBAC rule, so the certificate works in a cluster that has
// no rules yet.
function createAdminCertificate(kubernetesCa: CertifiedKey, nowMs: number): Promise<CertifiedKey> {
  const subject = { commonName: "kubernetes-admin", organization: "system:masters" };
  return createClientCertificate(kubernetesCa, subject, validityOf(nowMs, adminDays));
}

function validityOf(nowMs: number, days: number) {
  return { notBefore: new Date(nowMs - backdateMs), notAfter: new Date(nowMs + days * dayMs) };
}
