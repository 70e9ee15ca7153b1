import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import type { X509Certificate } from "@peculiar/x509";

/** A private key (PKCS #8 in PEM) and its public key (SubjectPublicKeyInfo in PEM). */
export interface KeyPair {
  readonly privateKeyPem: string;
  readonly publicKeyPem: string;
}

/** A certificate in PEM, and its private key (PKCS #8 in PEM). */
export interface CertifiedKey {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** Validity period of a certificate. */
export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256" };

/** Loading takes 50 ms, so it happens with the first cluster. */
async function loadX509() {
  await import("@abraham/reflection");
  return import("@peculiar/x509");
}

/** Creates an ECDSA key on the curve P-256. */
export async function createKeyPair(): Promise<KeyPair> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)("ec", { namedCurve: "P-256" });
  return {
    privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicKeyPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
}

/** Creates a self-signed CA. It can sign certificates of users and servers, but no further CAs. */
export async function createAuthority(commonName: string, validity: Validity): Promise<CertifiedKey> {
  const x509 = await loadX509();
  const { digitalSignature, keyCertSign, cRLSign } = x509.KeyUsageFlags;
  const { privateKeyPem, publicKeyPem } = await createKeyPair();
  const publicKey = verifyingKey(createPublicKey(publicKeyPem));
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [commonName] }],
    ...validity,
    keys: { publicKey, privateKey: signingKey(privateKeyPem) },
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(digitalSignature | keyCertSign | cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return { certificatePem: pemOf(certificate), privateKeyPem };
}

/** Creates a client certificate. Kubernetes uses the organization as the user's group. */
export async function createClientCertificate(
  authority: CertifiedKey,
  subject: { readonly commonName: string; readonly organization: string },
  validity: Validity,
): Promise<CertifiedKey> {
  const x509 = await loadX509();
  const { privateKeyPem, publicKeyPem } = await createKeyPair();
  const publicKey = verifyingKey(createPublicKey(publicKeyPem));
  const issuer = new x509.X509Certificate(authority.certificatePem);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ O: [subject.organization] }, { CN: [subject.commonName] }],
    issuer: issuer.subjectName,
    ...validity,
    publicKey,
    signingKey: signingKey(authority.privateKeyPem),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return { certificatePem: pemOf(certificate), privateKeyPem };
}

function signingKey(privateKeyPem: string) {
  return createPrivateKey(privateKeyPem).toCryptoKey(algorithm, false, ["sign"]);
}

function verifyingKey(key: KeyObject) {
  return key.toCryptoKey(algorithm, true, ["verify"]);
}

function pemOf(certificate: X509Certificate): string {
  return `${certificate.toString("pem")}\n`;
}
