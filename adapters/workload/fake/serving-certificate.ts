import "@abraham/reflection";
import { createPrivateKey, generateKeyPair } from "node:crypto";
import { isIP } from "node:net";
import { promisify } from "node:util";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import type { FakeAuthority } from "./boot-plan.ts";

const algorithm = { name: "ECDSA", namedCurve: "P-256" };
const dayMs = 86_400_000;

/** Creates a server's key and certificate as kubeadm does, in PEM. @param names IP addresses and DNS names */
export async function createServingCertificate(
  authority: FakeAuthority,
  commonName: string,
  names: readonly string[],
): Promise<{ readonly cert: string; readonly key: string }> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)("ec", { namedCurve: "P-256" });
  const issuer = new X509Certificate(authority.certificatePem);
  const certificate = await X509CertificateGenerator.create({
    subject: [{ CN: [commonName] }],
    issuer: issuer.subjectName,
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + 365 * dayMs),
    publicKey: publicKey.toCryptoKey(algorithm, true, ["verify"]),
    signingKey: createPrivateKey(authority.keyPem).toCryptoKey(algorithm, false, ["sign"]),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      new SubjectAlternativeNameExtension(
        [...new Set(names)].map((name) => ({ type: isIP(name) === 0 ? "dns" : "ip", value: name })),
      ),
    ],
  });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { cert: certificate.toString("pem"), key };
}
