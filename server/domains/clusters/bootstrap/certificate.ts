import { createPublicKey } from "node:crypto";
import type { X509Certificate } from "@peculiar/x509";
import { createKeyPair, loadX509, signingKey, verifyingKey } from "../../../crypto/x509.ts";

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

function pemOf(certificate: X509Certificate): string {
  return `${certificate.toString("pem")}\n`;
}
