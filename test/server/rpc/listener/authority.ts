import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Test } from "tap";

const openssl = async (...args: string[]) => void (await promisify(execFile)("openssl", args));
const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

export interface IssuedCertificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** An authority that issues client certificates. */
export interface Authority {
  readonly cert: Buffer;
  /**
   * Issues a certificate.
   * @param subject in the form of `openssl req -subj`
   * @param extensions lines of an openssl extension file
   * @param days its validity; -1 means it expired yesterday
   */
  issue(subject: string, extensions?: string, days?: number): Promise<IssuedCertificate>;
}

/** Creates an authority for the test with openssl. */
export async function createAuthority(t: Test, commonName: string): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), "hostplane-authority-"));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = (name: string) => join(folder, name);
  await openssl(
    "req",
    "-x509",
    ...newKey,
    "-days",
    "2",
    "-subj",
    `/CN=${commonName}`,
    "-keyout",
    file("ca.key"),
    "-out",
    file("ca.pem"),
  );
  let issued = 0;
  return {
    cert: await readFile(file("ca.pem")),
    async issue(subject, extensions = "extendedKeyUsage = clientAuth", days = 1) {
      issued += 1;
      const [key, csr, cert, text] = ["key", "csr", "pem", "ext"].map((ending) =>
        file(`${issued}.${ending}`),
      );
      await writeFile(text ?? "", extensions);
      await openssl(
        "req",
        "-new",
        "-utf8",
        ...newKey,
        "-subj",
        subject,
        "-keyout",
        key ?? "",
        "-out",
        csr ?? "",
      );
      await openssl(
        ...["x509", "-req", "-in", csr ?? "", "-CA", file("ca.pem"), "-CAkey", file("ca.key")],
        ...["-set_serial", String(issued), "-days", String(days), "-extfile", text ?? "", "-out", cert ?? ""],
      );
      return { cert: await readFile(cert ?? ""), key: await readFile(key ?? "") };
    },
  };
}
