import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Creates a self-signed certificate for `localhost` and 127.0.0.1, valid for a day, with openssl. */
export async function createCertificate(commonName: string): Promise<{ cert: Buffer; key: Buffer }> {
  const folder = await mkdtemp(join(tmpdir(), "hostplane-certificate-"));
  try {
    const cert = join(folder, "cert.pem");
    const key = join(folder, "key.pem");
    await promisify(execFile)("openssl", [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"],
      ...["-subj", `/CN=${commonName}`, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
      ...["-keyout", key, "-out", cert],
    ]);
    return { cert: await readFile(cert), key: await readFile(key) };
  } finally {
    await rm(folder, { recursive: true });
  }
}
