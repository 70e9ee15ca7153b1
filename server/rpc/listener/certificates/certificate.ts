import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";

/** The files of a listener's TLS; `clientCa` only if clients are asked for certificates. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
  readonly clientCa?: string;
}

/** PEM text of a certificate (with its chain), its private key, and the authorities of clients. */
export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** Undefined: clients are not asked for a certificate. */
  readonly ca?: Buffer | undefined;
}

/**
 * Reads a certificate and its key, and checks that they belong together and that the authorities can be parsed.
 * @throws Error that names the files and what is wrong with them
 */
export function readCertificate(files: CertificateFiles): Certificate {
  const { cert, key, clientCa } = files;
  try {
    const pair = { cert: readFileSync(cert), key: readFileSync(key) };
    createSecureContext(pair);
    return clientCa === undefined ? pair : { ...pair, ca: readAuthorities(clientCa) };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new Error(`the certificate ${cert} with the key ${key} cannot be used: ${words}`, { cause: error });
  }
}

/** Checks the authorities: OpenSSL skips entries that it cannot parse, and without any entry every client would be refused. */
function readAuthorities(file: string): Buffer {
  const pem = readFileSync(file);
  const blocks = pem.toString("latin1").match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs);
  try {
    const authorities = (blocks ?? []).map((block) => new X509Certificate(block));
    if (authorities.length === 0) {
      throw new Error("it contains no certificate");
    }
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new Error(`the client CA file ${file}: ${words}`, { cause: error });
  }
  return pem;
}
