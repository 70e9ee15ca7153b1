import { createPublicKey, randomUUID } from "node:crypto";
import { createKeyPair, loadX509, signingKey, verifyingKey } from "../../crypto/x509.ts";

/** A certificate (X.509 in PEM) and its private key (PKCS #8 in PEM). */
export interface CertifiedKey {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/**
 * The certificate authority of a fleet. Its root has two issuers: hubs get certificates for servers from the one, agents get
 * certificates for clients from the other. A side accepts the other side's issuer only, so that neither passes for the other.
 */
export interface FleetAuthority {
  readonly fleetId: string;
  readonly root: CertifiedKey;
  readonly hubIssuer: CertifiedKey;
  readonly agentIssuer: CertifiedKey;
}

const dayMs = 86_400_000;

/** Lifetime of the root and the issuers. */
const authorityDays = 20 * 365;

/** Certificates begin this long before they are issued, for clocks that are slow. */
const backdatedMs = 3_600_000;

/** Returns a period that begins an hour ago and ends in a number of days. */
export function periodOfDays(days: number): { readonly notBefore: Date; readonly notAfter: Date } {
  const nowMs = Date.now();
  return { notBefore: new Date(nowMs - backdatedMs), notAfter: new Date(nowMs + days * dayMs) };
}

/** Creates the authority of a new fleet. */
export async function createFleetAuthority(): Promise<FleetAuthority> {
  const fleetId = randomUUID();
  const root = await createRoot(fleetId);
  const [hubIssuer, agentIssuer] = await Promise.all([
    createIssuer(root, `hostplane hubs ${fleetId}`, "serverAuth"),
    createIssuer(root, `hostplane agents ${fleetId}`, "clientAuth"),
  ]);
  return { fleetId, root, hubIssuer, agentIssuer };
}

async function createRoot(fleetId: string): Promise<CertifiedKey> {
  const x509 = await loadX509();
  const { privateKeyPem, publicKeyPem } = await createKeyPair();
  const publicKey = verifyingKey(createPublicKey(publicKeyPem));
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [`hostplane fleet ${fleetId}`] }],
    ...periodOfDays(authorityDays),
    keys: { publicKey, privateKey: signingKey(privateKeyPem) },
    extensions: [
      new x509.BasicConstraintsExtension(true, 1, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return { certificatePem: `${certificate.toString("pem")}\n`, privateKeyPem };
}

async function createIssuer(
  root: CertifiedKey,
  commonName: string,
  usage: "serverAuth" | "clientAuth",
): Promise<CertifiedKey> {
  const x509 = await loadX509();
  const { privateKeyPem, publicKeyPem } = await createKeyPair();
  const publicKey = verifyingKey(createPublicKey(publicKeyPem));
  const issuer = new x509.X509Certificate(root.certificatePem);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [commonName] }],
    issuer: issuer.subjectName,
    ...periodOfDays(authorityDays),
    publicKey,
    signingKey: signingKey(root.privateKeyPem),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      // Limits what the certificates below it can be used for (OpenSSL checks the usage of the whole chain).
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[usage]]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return { certificatePem: `${certificate.toString("pem")}\n`, privateKeyPem };
}
