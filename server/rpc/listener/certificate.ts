import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";

/** PEM text of a certificate (with its chain) and of its private key. */
export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * Reads a certificate and its key, and makes sure that they belong together.
 * @throws Error that names both files, and what is wrong with them
 */
export function readCertificate(files: { readonly cert: string; readonly key: string }): Certificate {
  try {
    const certificate = { cert: readFileSync(files.cert), key: readFileSync(files.key) };
    createSecureContext(certificate);
    return certificate;
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new Error(`the certificate ${files.cert} with the key ${files.key} cannot be used: ${words}`, {
      cause: error,
    });
  }
}
