import { createHash } from "node:crypto";
import { type Certificate, type CertificateFiles, readCertificate } from "./certificate.ts";

export interface CertificateReload {
  /**
   * Reads a certificate, and from now on looks at its files and has `apply` use what they hold.
   * @throws Error when it cannot be used
   */
  use(files: CertificateFiles, apply: (certificate: Certificate) => void): Certificate;
  /** Reads all again. @throws Error when one cannot be used; none is applied then */
  reload(): void;
  close(): void;
}

interface Used {
  readonly files: CertificateFiles;
  readonly apply: (certificate: Certificate) => void;
  /** What was last found in the files, whether it could be used or not. */
  seen: string;
}

/**
 * Keeps certificates as new as their files. These are compared every `checkEveryMs`, not watched: a renamed symbolic
 * link, a mount or a network share tells no watcher. Files that cannot be used, such as a new certificate whose key
 * is still on its way, change nothing, and are looked at again once they change.
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
  /** Undefined when the files cannot be used, for the reason in `error`. */
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
