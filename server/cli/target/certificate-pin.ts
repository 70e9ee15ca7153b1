import { Agent } from "node:https";
import { type ConnectionOptions, connect, getCACertificates, type TLSSocket } from "node:tls";

/** A server's certificate, as seen in a handshake. */
export interface SeenCertificate {
  /** `sha256:` and the hexadecimal digest of the certificate. */
  readonly fingerprint: string;
  /** Why the system's store does not accept it; undefined if it does. */
  readonly problem: string | undefined;
}

const handshakeTimeoutMs = 10_000;

/** The certificate authorities of the system, and those that Node has. */
export function trustedAuthorities(): string[] {
  return [...new Set([...getCACertificates("default"), ...getCACertificates("system")])];
}

/** Connects to a server to see its certificate. Sends no request. @throws Error when no handshake is possible */
export function seeCertificate({ hostname, port }: URL): Promise<SeenCertificate> {
  return new Promise((resolve, reject) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({
      ...nameOf(host),
      host,
      port: Number(port) || 443,
      ca: trustedAuthorities(),
      // Nothing is sent; the result says whether the certificate was accepted.
      rejectUnauthorized: false,
      timeout: handshakeTimeoutMs,
    });
    socket.once("secureConnect", () => {
      const fingerprint = fingerprintOf(socket);
      const problem = socket.authorized ? undefined : String(socket.authorizationError);
      socket.destroy();
      resolve({ fingerprint, problem });
    });
    socket.once("timeout", () => socket.destroy(new Error("no TLS handshake within 10 s")));
    socket.once("error", reject);
  });
}

/**
 * Creates an agent that connects only to a server with this certificate, regardless of its issuer. No request is written before the
 * certificate has been compared.
 */
export function createPinnedAgent(pin: string): Agent {
  return new PinnedAgent(pin);
}

class PinnedAgent extends Agent {
  readonly #pin: string;

  constructor(pin: string) {
    super({ keepAlive: true });
    this.#pin = pin;
  }

  override createConnection(
    options: ConnectionOptions,
    done?: (error: Error | null, socket: TLSSocket) => void,
  ): undefined {
    const socket = connect({ ...options, ...nameOf(options.host ?? ""), rejectUnauthorized: false });
    const fail = (error: Error) => done?.(error, socket);
    socket.once("error", fail);
    socket.once("secureConnect", () => {
      const seen = fingerprintOf(socket);
      if (seen === this.#pin) {
        socket.off("error", fail);
        done?.(null, socket);
      } else {
        socket.destroy(new Error(`the server's certificate is ${seen}, not the pinned ${this.#pin}`));
      }
    });
    return undefined;
  }
}

/** Parses `sha256:` and 64 hexadecimal digits, in upper or lower case, with or without colons. */
export function parseFingerprint(text: string): string | undefined {
  const digits = text
    .replace(/^sha256:/i, "")
    .replaceAll(":", "")
    .toLowerCase();
  return /^[\da-f]{64}$/.test(digits) ? `sha256:${digits}` : undefined;
}

function fingerprintOf(socket: TLSSocket): string {
  return parseFingerprint(socket.getPeerCertificate().fingerprint256 ?? "") ?? "sha256:none";
}

/** An address must not be sent as a server name. */
function nameOf(host: string): { readonly servername?: string } {
  return /^[\d.]+$|:/.test(host) ? {} : { servername: host };
}
