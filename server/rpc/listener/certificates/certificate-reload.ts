import { createHash } from "node:crypto";
import { type Certificate, type CertificateFiles, readCertificate } from "./certificate.ts";

export interface CertificateReload {
  /**
   * Reads a certificate. From then on its files are checked, and `apply` is called with each new content.
   * @throws Error when it cannot be used
   */
  use(files: CertificateFiles, apply: (certificate: Certificate) => void): Certificate;
  /** Reads all certificates again. @throws Error when one cannot be used; none is applied then */
  reload(): void;
  close(): void;
}

interface Used {
  readonly files: CertificateFiles;
  readonly apply: (certificate: Certificate) => void;
  /** Fingerprint of the last content of the files, whether usable or not. */
  seen: string;
}

/**
 * Keeps certificates up to date with their files. The files are compared every `checkEveryMs` instead of watched: watchers miss
 * renamed symbolic links, mounts and network shares. Unusable files, such as a new certificate whose key has not arrived yet,
 * change nothing until they change again.
 */
export function createCertificateReload(
  checkEveryMs: number,
  events: {
    readonly onReloaded: (files: CertificateFiles) => void;
    readonly onRefused: (error: unknown) => void;
  },
): CertificateReload {
  const all: Used[] = [];

  function check(): void {
    for (const used of all) {
      const found = find(used.files);
      if (found.fingerprint === used.seen) {
        continue;
      }
      used.seen = found.fingerprint;
      if (found.certificate === undefined) {
        events.onRefused(found.error);
      } else {
        used.apply(found.certificate);
        events.onReloaded(used.files);
      }
    }
  }

  const timer = setInterval(check, checkEveryMs);
  timer.unref();
  return {
    use(files, apply) {
      const certificate = readCertificate(files);
      all.push({ files, apply, seen: fingerprintOf(certificate) });
      return certificate;
    },
    reload() {
      const read = all.map((used) => ({ used, certificate: readCertificate(used.files) }));
      for (const { used, certificate } of read) {
        used.seen = fingerprintOf(certificate);
        used.apply(certificate);
      }
    },
    close: () => clearInterval(timer),
  };
}

interface Found {
  readonly fingerprint: string;
  /** Undefined if the files cannot be used; `error` has the reason. */
  readonly certificate?: Certificate;
  readonly error?: unknown;
}

function find(files: CertificateFiles): Found {
  try {
    const certificate = readCertificate(files);
    return { fingerprint: fingerprintOf(certificate), certificate };
  } catch (error) {
    return { fingerprint: String(error), error };
  }
}

function fingerprintOf({ cert, key, ca }: Certificate): string {
  const hash = createHash("sha256");
  for (const part of [cert, key, ca ?? Buffer.alloc(0)]) {
    hash.update(`${part.byteLength}:`).update(part);
  }
  return hash.digest("hex");
}
