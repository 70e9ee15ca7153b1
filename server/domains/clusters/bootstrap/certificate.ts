import "@abraham/reflection";
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

/** A private key, PKCS #8 in PEM, with its public half, SubjectPublicKeyInfo in PEM. */
export interface KeyPair {
  readonly privateKeyPem: string;
  readonly publicKeyPem: string;
}

/** A certificate in PEM, and its private key, PKCS #8 in PEM. */
export interface CertifiedKey {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** From when to when a certificate is good. */
export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256" };

/** A new key for ECDSA on the curve P-256. */
export async function createKeyPair(): Promise<KeyPair> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)("ec", { namedCurve: "P-256" });
  return {
    privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicKeyPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
}

/** A new authority, signed by itself. It can sign certificates of users and servers, and no further authority. */
export async function createAuthority(commonName: string, validity: Validity): Promise<CertifiedKey> {
  const { privateKeyPem, publicKeyPem } = await createKeyPair();
  const publicKey = verifyingKey(createPublicKey(publicKeyPem));
  const keyUsages = KeyUsageFlags.digitalSignature | KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign;
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [commonName] }],
    ...validity,
    keys: { publicKey, privateKey: signingKey(privateKeyPem) },
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(keyUsages, true),
      await SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return { certificatePem: pemOf(certificate), privateKeyPem };
}

/** A new certificate that a client proves with who it is. The organization is what Kubernetes takes for its group. */
export async function createClientCertificate(
  authority: CertifiedKey,
  subject: { readonly commonName: string; readonly organization: string },
  validity: Validity,
): Promise<CertifiedKey> {
  const { privateKeyPem, publicKeyPem } = await createKeyPair();
  const publicKey = verifyingKey(createPublicKey(publicKeyPem));
  const issuer = new X509Certificate(authority.certificatePem);
  const certificate = await X509CertificateGenerator.create({
    subject: [{ O: [subject.organization] }, { CN: [subject.commonName] }],
    issuer: issuer.subjectName,
    ...validity,
    publicKey,
    signingKey: signingKey(authority.privateKeyPem),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth]),
      await AuthorityKeyIdentifierExtension.create(issuer),
      await SubjectKeyIdentifierExtension.create(publicKey),
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
