import { createPrivateKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";

const algorithm = { name: "ECDSA", namedCurve: "P-256" };

/** Loads the library for certificates. That takes 50 ms, so callers do it when they need the first certificate. */
export async function loadX509() {
  await import("@abraham/reflection");
  return import("@peculiar/x509");
}

/** A private key (PKCS #8 in PEM) and its public key (SubjectPublicKeyInfo in PEM). */
export interface KeyPair {
  readonly privateKeyPem: string;
  readonly publicKeyPem: string;
}

/** Creates an ECDSA key on the curve P-256. */
export async function createKeyPair(): Promise<KeyPair> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)("ec", { namedCurve: "P-256" });
  return {
    privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicKeyPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
}

/** Returns a private key as `@peculiar/x509` takes it to sign certificates. */
export function signingKey(privateKeyPem: string) {
  return createPrivateKey(privateKeyPem).toCryptoKey(algorithm, false, ["sign"]);
}

/** Returns a public key as `@peculiar/x509` takes it, to verify signatures or to put it into a certificate. */
export function verifyingKey(key: KeyObject) {
  return key.toCryptoKey(algorithm, true, ["verify"]);
}
